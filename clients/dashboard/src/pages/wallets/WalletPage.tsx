import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { balancesQuery, intentsQuery, positionsQuery, walletQuery } from '../../api/queries.js'
import { Absent } from '../../shell/WaysOn.js'
import { shorten } from '../../text/shorten.js'
import { Empty } from '../../ui/feedback/Empty.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Id } from '../../ui/values/Id.js'
import { List } from '../../ui/tables/List.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { intentColumnsOfWallet } from '../intents/intentColumns.js'
import { NewIntentLink } from '../intents/NewIntentLink.js'
import { BalanceTable } from './BalanceTable.js'
import { Fund } from './Fund.js'
import { PositionTable } from './PositionTable.js'
import { Earned, Idle, Lent } from './WalletMoney.js'

/** One wallet: balances, positions and intents. */
export function WalletPage() {
  const { walletId } = useParams({ from: '/inside/wallets/$walletId' })
  const owner = useQuery(walletQuery(walletId))
  const balances = useQuery(balancesQuery(walletId))
  const positions = useQuery(positionsQuery(walletId))
  const history = useInfiniteQuery(intentsQuery({ walletId }))
  const wallet = owner.data
  if (owner.error && !wallet) {
    const retry = () => void owner.refetch()
    return <Absent what="Wallet" error={owner.error} retry={retry} />
  }
  return (
    <>
      <PageHead
        title={wallet ? `Wallet of ${wallet.userId}` : `Wallet ${shorten(walletId)}`}
        action={
          <>
            <Fund walletId={walletId} />
            <NewIntentLink walletId={walletId} />
          </>
        }
      >
        <div className="flex flex-wrap gap-x-6">
          <Id id={walletId} label="wallet id" />
          {balances.data && <Id id={balances.data.address} label="address" isWhole />}
        </div>
      </PageHead>
      <Section
        title="Balances"
        action={
          <Sums>
            Idle <Idle walletId={walletId} />
          </Sums>
        }
      >
        {balances.data ? (
          <BalanceTable balances={balances.data} />
        ) : balances.error ? (
          <Failure error={balances.error} retry={() => void balances.refetch()} />
        ) : (
          <Skeleton lines={3} />
        )}
      </Section>
      <Section
        title="Positions"
        action={
          <Sums>
            Lent <Lent walletId={walletId} />, earned <Earned walletId={walletId} />
          </Sums>
        }
      >
        {positions.data ? (
          <PositionTable positions={positions.data} />
        ) : positions.error ? (
          <Failure error={positions.error} retry={() => void positions.refetch()} />
        ) : (
          <Skeleton lines={2} />
        )}
      </Section>
      <Section title="Intents">
        <List
          label="Intents of this wallet"
          query={history}
          columns={intentColumnsOfWallet}
          keyOf={({ id }) => id}
          empty={<Empty title="No intents yet">The intents of this wallet appear here.</Empty>}
        />
      </Section>
    </>
  )
}

const Sums = ({ children }: { children: ReactNode }) => (
  <span className="text-sm text-ink-2">{children}</span>
)
