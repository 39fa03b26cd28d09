import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryText } from '../../api/call.js'
import { requestsQuery } from '../../api/queries.js'
import { Empty, NothingMatches } from '../../ui/feedback/Empty.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { requestColumns } from './requestColumns.js'
import { RequestFacts } from './RequestFacts.js'
import { RequestFilters, type RequestSearch } from './RequestFilters.js'

/** The requests of keys and members, newest first. */
export function Requests() {
  const { open, ...search } = useSearch({ from: '/inside/requests' })
  const navigate = useNavigate()
  const query = useInfiniteQuery(requestsQuery(search))
  const go = (next: RequestSearch) =>
    void navigate({ to: '/requests', search: next, replace: true, resetScroll: false })
  const isFiltered = Object.values(search).some((value) => value !== undefined)
  return (
    <>
      <PageHead title="Request log">
        Every call with a valid key and every write by members, kept for 30 days. A refused call
        shows why; of a body only the refused fields are kept, without secrets.
      </PageHead>
      <RequestFilters search={search} onChange={(change) => go({ ...search, ...change })} />
      <List
        key={queryText(search)}
        label="Requests"
        query={query}
        columns={requestColumns}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <NothingMatches title="No request matches" to="/requests">
              Show all requests
            </NothingMatches>
          ) : (
            <NoneYet />
          )
        }
      />
      {open && <RequestFacts id={open} onClose={() => go(search)} />}
    </>
  )
}

function NoneYet() {
  const call = `curl -s ${location.origin}/v1/yields -H "Authorization: Bearer $KEY"`
  return (
    <Empty title="No requests yet" call={call}>
      The first call with an API key of this account appears here shortly after its response.
    </Empty>
  )
}
