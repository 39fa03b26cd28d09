import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  creditsQuery,
  intentsQuery,
  keysQuery,
  walletsQuery,
  yieldsQuery,
} from '../../api/queries.js'
import { percentText } from '../../text/amount.js'
import { chainText, protocolText } from '../../text/shorten.js'
import { buttonClass } from '../../ui/Button.js'
import { List } from '../../ui/List.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { intentColumns } from '../intents/intentColumns.js'
import { Figures } from './Figures.js'
import { FirstSteps } from './FirstSteps.js'

const SHOWN = 8

/** How the account stands; for a new one, how to make a first call. */
export function Overview() {
  const intents = useInfiniteQuery(intentsQuery({ limit: SHOWN }))
  return (
    <>
      <PageHead
        title="Overview"
        action={
          <Link to="/intents/new" search={{}} className={buttonClass('primary')}>
            New intent
          </Link>
        }
      />
      <Standing />
      <Beginning />
      <Section
        title="Latest intents"
        action={
          <Link
            to="/intents"
            search={{}}
            className="text-sm font-medium text-accent hover:underline"
          >
            All intents
          </Link>
        }
      >
        <List
          label="Latest intents"
          query={{ ...intents, hasNextPage: false }}
          columns={intentColumns}
          keyOf={({ id }) => id}
          empty={<p className="border-y border-line py-4 text-sm text-ink-3">None yet.</p>}
        />
      </Section>
    </>
  )
}

function Standing() {
  const { data: credits } = useQuery(creditsQuery)
  const { data: yields } = useQuery(yieldsQuery)
  const best = yields?.best
  const market = best && `Best rate: ${protocolText(best.protocol ?? '')}, ${chainText(best.chain)}`
  return (
    <Figures
      of={[
        { name: 'Credits left', value: credits?.balance.toLocaleString(), to: '/credits' },
        { name: market ?? 'Best rate', value: best ? percentText(best.apy) : '', to: '/yields' },
      ]}
    />
  )
}

/** Until a first intent has completed. */
function Beginning() {
  const keys = useInfiniteQuery(keysQuery)
  const wallets = useInfiniteQuery(walletsQuery({ limit: 1 }))
  const done = useInfiniteQuery(intentsQuery({ limit: 1, status: 'completed' }))
  if (done.data?.pages[0]?.data.length !== 0) return null
  const hasUsedKey = keys.data?.pages[0]?.data.some(({ lastUsedAt }) => lastUsedAt !== null)
  return <FirstSteps hasUsedKey={hasUsedKey} wallet={wallets.data?.pages[0]?.data[0]} />
}
