import type { ComponentProps } from 'react'

type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger'

const looks: Record<ButtonLook, string> = {
  primary: 'bg-accent-fill text-on-accent border-transparent hover:bg-accent-hover',
  plain: 'bg-raised text-ink border-line-strong hover:bg-hover',
  quiet: 'bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-raised text-failed border-line-strong hover:bg-failed-soft',
}

const shape =
  'inline-flex h-8 shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded-md border px-3 text-sm font-medium transition-colors disabled:opacity-50'

/** For links that look like buttons. */
export const buttonClass = (look: ButtonLook) => `${shape} ${looks[look]}`

type Props = ComponentProps<'button'> & { look?: ButtonLook; isBusy?: boolean }

/** A busy button is disabled and announces its state to screen readers. */
export function Button({ look = 'plain', isBusy, className = '', ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled ?? isBusy}
      aria-busy={isBusy}
      className={`${buttonClass(look)} ${className}`}
    />
  )
}
