import { amountText } from '../../text/amount.js'

type Props = { amount: string | number; asset?: string; className?: string }

/** Whole tokens; all digits on hover, when some were left out. */
export function Amount({ amount, asset, className = '' }: Props) {
  return (
    <span
      className={`whitespace-nowrap ${className}`}
      title={`${amount}${asset ? ` ${asset}` : ''}`}
    >
      {amountText(amount)}
      {asset && <span className="text-ink-3"> {asset}</span>}
    </span>
  )
}
