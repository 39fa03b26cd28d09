import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryText } from '../../api/call.js'
import { intentsQuery } from '../../api/queries.js'
import { Chips } from '../../ui/forms/Chips.js'
import { Empty, NothingMatches } from '../../ui/feedback/Empty.js'
import { FileLink } from '../../ui/values/FileLink.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { intentColumns } from './intentColumns.js'
import { NewIntentLink } from './NewIntentLink.js'

const statuses = [
  { value: 'pending', label: 'Pending' },
  { value: 'executing', label: 'Executing' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
]
const actions = [
  { value: 'lend', label: 'Lend' },
  { value: 'withdraw', label: 'Withdraw' },
  { value: 'bridge', label: 'Bridge' },
]

const FIRST_CALL = `curl -s $API/intents -H "$AUTH" -H "$JSON" \\
  -d '{"walletId":"svc_wallet_…","action":"lend","amount":1}'`

/** All intents of the account, the newest first. */
export function Intents() {
  const search = useSearch({ from: '/inside/intents' })
  const navigate = useNavigate()
  const query = useInfiniteQuery(intentsQuery(search))
  const filter = (name: string) => (value: string | undefined) =>
    void navigate({ to: '/intents', search: { ...search, [name]: value }, replace: true })
  const isFiltered = Object.keys(search).length > 0
  return (
    <>
      <PageHead title="Intents" action={<NewIntentLink />} />
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Chips label="State" choices={statuses} value={search.status} onChange={filter('status')} />
        <Chips label="Action" choices={actions} value={search.action} onChange={filter('action')} />
        <span className="ml-auto">
          <FileLink path={`/intents.csv${queryText(search)}`}>Export CSV</FileLink>
        </span>
      </div>
      <List
        key={queryText(search)}
        label="Intents"
        query={query}
        columns={intentColumns}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <NothingMatches title="No intent matches" to="/intents">
              Show all intents
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
    <Empty title="No intents yet" call={FIRST_CALL}>
      An intent describes a goal, such as lending at the best rate. Steward plans, signs and
      executes it. Intents appear here live.
    </Empty>
  )
}
