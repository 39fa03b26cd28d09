import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/access.js'
import { intentsQuery, overviewQuery } from '../../api/queries.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { List } from '../../ui/tables/List.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { intentColumns } from '../intents/intentColumns.js'
import { NewIntentLink } from '../intents/NewIntentLink.js'
import { Attention } from './Attention.js'
import { FirstSteps } from './FirstSteps.js'
import { Money } from './Money.js'
import { Standing } from './Standing.js'
import { Today } from './Today.js'
import { Trends } from './Trends.js'

const SHOWN = 8

/** The trends of the account, what needs attention, and its latest intents. Writers of a new account see the first calls. */
export function Overview() {
  return (
    <>
      <PageHead title="Overview" action={<NewIntentLink />} />
      <State />
      <Standing />
    </>
  )
}

function State() {
  const { data, error, refetch } = useQuery(overviewQuery)
  const mayWrite = useMay('write')
  if (!data) {
    return (
      <div className="mb-10">
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton lines={4} />}
      </div>
    )
  }
  const { firstSteps, money, intentsToday } = data
  return (
    <>
      {mayWrite && !firstSteps.intentCompleted ? <FirstSteps done={firstSteps} /> : <Trends />}
      <Attention />
      <Latest />
      <div className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Money {...money} />
        <Today counts={intentsToday} />
      </div>
    </>
  )
}

function Latest() {
  const intents = useInfiniteQuery(intentsQuery({ limit: SHOWN }))
  return (
    <Section
      title="Latest intents"
      action={
        <Link to="/intents" search={{}} className="text-sm font-medium text-accent hover:underline">
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
  )
}
