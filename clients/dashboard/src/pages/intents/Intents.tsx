import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryText } from '../../api/call.js'
import { intentsQuery } from '../../api/queries.js'
import { Empty, NothingMatches } from '../../ui/feedback/Empty.js'
import { FileLink } from '../../ui/values/FileLink.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { IntentFilters } from './IntentFilters.js'
import { filterOf, type IntentSearch } from './intentFilter.js'
import { intentColumns } from './intentColumns.js'
import { NewIntentLink } from './NewIntentLink.js'

const FIRST_CALL = `curl -s $API/intents -H "$AUTH" -H "$JSON" \\
  -d '{"walletId":"svc_wallet_…","action":"lend","amount":1}'`

/** All intents of the account, the newest first. */
export function Intents() {
  const search = useSearch({ from: '/inside/intents' })
  const navigate = useNavigate()
  const filter = filterOf(search)
  const query = useInfiniteQuery(intentsQuery(filter))
  const onChange = (change: IntentSearch) =>
    void navigate({ to: '/intents', search: { ...search, ...change }, resetScroll: false })
  const isFiltered = Object.keys(search).length > 0
  return (
    <>
      <PageHead title="Intents" action={<NewIntentLink />} />
      <IntentFilters search={search} onChange={onChange}>
        <FileLink path={`/intents.csv${queryText(filter)}`}>Export CSV</FileLink>
      </IntentFilters>
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
