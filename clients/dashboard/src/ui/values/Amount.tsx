import { amountText } from '../../text/amount.js'

type Props = { amount: string | number; asset?: string; className?: string }

/** An amount in whole tokens, with all digits on hover. */
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
