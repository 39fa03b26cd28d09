import { amountText } from '../../text/amount.js'

type Props = { amount: string | number; asset?: string; text?: string; className?: string }

/** An amount in whole tokens, with all digits on hover. `text`: its short form, where there is little space. */
export function Amount({ amount, asset, text, className = '' }: Props) {
  return (
    <span
      className={`whitespace-nowrap ${className}`}
      title={`${amount}${asset ? ` ${asset}` : ''}`}
    >
      {text ?? amountText(amount)}
      {asset && <span className="text-ink-3"> {asset}</span>}
    </span>
  )
}
