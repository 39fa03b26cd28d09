import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { walletsQuery } from '../../api/queries.js'
import type { Wallet } from '../../api/types.js'
import { Empty, NothingMatches } from '../../ui/feedback/Empty.js'
import { FilterField } from '../../ui/forms/SearchField.js'
import { Id } from '../../ui/values/Id.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'
import { NewWallet } from './NewWallet.js'
import { Earned, Idle, Lent } from './WalletMoney.js'

const columns: Column<Wallet>[] = [
  {
    name: 'User',
    cell: ({ id, userId }) => (
      <Link to="/wallets/$walletId" params={{ walletId: id }} title={userId} {...rowLink}>
        {userId}
      </Link>
    ),
  },
  { name: 'Idle', width: 'w-24', align: 'right', cell: ({ id }) => <Idle walletId={id} /> },
  {
    name: 'Lent',
    width: 'w-36 max-sm:w-28',
    align: 'right',
    cell: ({ id }) => <Lent walletId={id} />,
  },
  {
    name: 'Earned',
    width: 'w-36',
    align: 'right',
    from: 'md',
    cell: ({ id }) => <Earned walletId={id} />,
  },
  {
    name: 'Address',
    width: 'w-40',
    from: 'sm',
    cell: ({ address }) => (
      <span className="relative z-10">
        <Id id={address} label="address" />
      </span>
    ),
  },
  {
    name: 'Wallet',
    width: 'w-52',
    from: 'lg',
    cell: ({ id }) => (
      <span className="relative z-10">
        <Id id={id} label="wallet id" />
      </span>
    ),
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { from: 'lg' }),
]

const FIRST_CALL = `curl -s $API/wallets -H "$AUTH" -H "$JSON" \\
  -d '{"userId":"alice"}'`

/** All wallets of the account, newest first. */
export function Wallets() {
  const { userId } = useSearch({ from: '/inside/wallets' })
  const query = useInfiniteQuery(walletsQuery({ userId }))
  const navigate = useNavigate()
  return (
    <>
      <PageHead title="Wallets" action={<NewWallet />}>
        One wallet for each of your users, with the same address on every chain.
      </PageHead>
      <div className="mb-3">
        <FilterField
          label="Find a wallet by the id of its user"
          placeholder="Id of a user"
          value={userId}
          onChange={(wanted) => void navigate({ to: '/wallets', search: { userId: wanted } })}
        />
      </div>
      <List
        key={userId}
        label="Wallets"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          userId ? (
            <NothingMatches title={`No wallet of ${userId}`} to="/wallets">
              Show all wallets
            </NothingMatches>
          ) : (
            <NoneYet />
          )
        }
      />
    </>
  )
}

function NoneYet() {
  return (
    <Empty title="No wallets yet" call={FIRST_CALL}>
      A wallet belongs to one of your users, under an identifier of your choice. The service creates
      and keeps its key. A wallet needs no ETH.
    </Empty>
  )
}
