import { useQuery } from '@tanstack/react-query'
import { balancesQuery, positionsQuery } from '../../api/queries.js'
import { centsText, sumText, usdText } from '../../text/amount.js'
import { chainText } from '../../text/names.js'
import { Amount } from '../../ui/values/Amount.js'

type Props = { walletId: string }

/** The value of the token balances of a wallet in USD. */
export function Idle({ walletId }: Props) {
  const { data } = useQuery({ ...balancesQuery(walletId), retry: false })
  if (!data || data.unavailable) return <Unknown unavailable={data?.unavailable} />
  return usdText(data.totalValueUsd)
}

/** The current value of the open positions of a wallet, by token. */
export const Lent = ({ walletId }: Props) => <PositionSum walletId={walletId} of="currentValue" />

/** The current value of the open positions minus what was put in and not taken out, by token. */
export const Earned = ({ walletId }: Props) => <PositionSum walletId={walletId} of="earned" />

function PositionSum({ walletId, of }: Props & { of: 'currentValue' | 'earned' }) {
  const { data } = useQuery({ ...positionsQuery(walletId), retry: false })
  if (!data || data.unavailable) return <Unknown unavailable={data?.unavailable} />
  const { positions } = data
  const assets = [...new Set(positions.map(({ asset }) => asset))]
  if (assets.length === 0) return <Amount amount="0" />
  return assets.map((asset, index) => {
    const own = positions.filter((position) => position.asset === asset)
    const sum = sumText(own.map((position) => position[of]))
    return (
      <span key={asset}>
        {index > 0 && ', '}
        <Amount
          amount={sum}
          asset={asset}
          text={centsText(sum)}
          className={of === 'currentValue' ? '' : sum.startsWith('-') ? 'text-failed' : 'text-done'}
        />
      </span>
    )
  })
}

/** A sum that is not known: it is loading, the read failed, or a chain is missing in it. */
function Unknown({ unavailable }: { unavailable: readonly string[] | undefined }) {
  const why = unavailable && `No answer from ${unavailable.map(chainText).join(', ')}.`
  return (
    <span title={why} className="text-ink-3">
      –
    </span>
  )
}
