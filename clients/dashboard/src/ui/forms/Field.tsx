import { useId, type ComponentProps, type ReactNode } from 'react'
import { boxClass } from './boxClass.js'

type FieldFrame = { label: string; hint?: ReactNode; error?: string | undefined }

/** A text input with its label, and a hint or an error below. */
export function TextField({ label, hint, error, ...rest }: FieldFrame & ComponentProps<'input'>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input
        id={id}
        aria-invalid={Boolean(error)}
        aria-describedby={`${id}-note`}
        {...rest}
        className={boxClass.large}
      />
    </Labelled>
  )
}

type SelectChoice = { value: string; label: string }
type SelectProps = FieldFrame & ComponentProps<'select'> & { choices: readonly SelectChoice[] }

/** A native select with its label. */
export function SelectField({ label, hint, error, choices, ...rest }: SelectProps) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <select id={id} aria-describedby={`${id}-note`} {...rest} className={boxClass.large}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

function Labelled({
  id,
  label,
  hint,
  error,
  children,
}: FieldFrame & { id: string; children: ReactNode }) {
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children}
      <p id={`${id}-note`} className={`mt-1 text-xs ${error ? 'text-failed' : 'text-ink-3'}`}>
        {error ?? hint}
      </p>
    </div>
  )
}
