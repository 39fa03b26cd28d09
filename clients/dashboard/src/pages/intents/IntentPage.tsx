import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { intentQuery } from '../../api/queries.js'
import type { Intent } from '../../api/types.js'
import { Absent } from '../../shell/WaysOn.js'
import { Id } from '../../ui/values/Id.js'
import { Json } from '../../ui/values/Json.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { State } from '../../ui/feedback/State.js'
import { Timeline } from '../../ui/Timeline.js'
import { amountText } from '../../text/amount.js'
import { namesIn } from '../../text/names.js'
import { IntentActions } from './IntentActions.js'
import { IntentEvents } from './IntentEvents.js'
import { IntentFacts } from './IntentFacts.js'
import { Alternatives, Warnings } from './Options.js'
import { fundsText, sentenceOf } from './sentence.js'
import { timelineOf } from './timeline.js'
import { faceOf, verbOf } from './words.js'

/** A running intent is polled as well, in case an event is missed. */
const POLL_MS = 5_000

/** The actions of a failed intent change without an event of its own: after a hold, a freeze or a retry. */
const isSettled = (intent: Intent | undefined) =>
  intent?.status === 'completed' || intent?.retriedBy !== undefined

/** One intent with its steps, live. */
export function IntentPage() {
  const { intentId } = useParams({ from: '/inside/intents/$intentId' })
  const { data, error, refetch } = useQuery({
    ...intentQuery(intentId),
    refetchInterval: ({ state }) => (isSettled(state.data) ? false : POLL_MS),
  })
  if (data) return <Whole intent={data} />
  if (!error) return <Skeleton lines={8} />
  return <Absent what="Intent" error={error} retry={() => void refetch()} />
}

function Whole({ intent }: { intent: Intent }) {
  const { state, word } = faceOf(intent)
  const rows = timelineOf(intent)
  return (
    <>
      <PageHead
        title={`${verbOf(intent)} ${amountText(intent.amount)} ${intent.asset}`}
        action={<IntentActions intent={intent} />}
      >
        <Id id={intent.id} label="intent id" isWhole />
      </PageHead>
      <div className="mb-8 border-y border-line py-4">
        <State state={state}>{word}</State>
        <p className="mt-1 max-w-3xl text-lg">{sentenceOf(intent)}</p>
        <Where intent={intent} />
      </div>
      <div className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div>
          <Section title="Steps">
            {rows.length > 0 ? (
              <Timeline rows={rows} />
            ) : (
              <p className="text-sm text-ink-2">The intent has no plan yet.</p>
            )}
          </Section>
          {intent.executionPlan && <Reasons plan={intent.executionPlan} />}
          <IntentEvents intentId={intent.id} />
        </div>
        <div>
          <Section title="Facts">
            <IntentFacts intent={intent} />
          </Section>
        </div>
      </div>
      <Json value={intent} />
    </>
  )
}

function Reasons({ plan }: { plan: NonNullable<Intent['executionPlan']> }) {
  return (
    <>
      <Section title="Why this plan">
        <Warnings plan={plan} />
        <p className="max-w-2xl text-sm text-ink-2">{namesIn(plan.reasoning)}</p>
      </Section>
      <Alternatives plan={plan} />
    </>
  )
}

/** Where the money is, with links to the error code and the retry. */
function Where({ intent: { funds, error, delay, retriedBy } }: { intent: Intent }) {
  const places = error?.funds ?? delay?.funds ?? funds ?? []
  return (
    <div className="mt-2 space-y-1 text-sm text-ink-2">
      {places.map((place) => (
        <p key={`${place.chain} ${place.protocol} ${place.asset}`}>{fundsText(place)}.</p>
      ))}
      {error && (
        <p>
          <a href={`/docs/errors#${error.code}`} className="text-accent hover:underline">
            What {error.code} means and what to do
          </a>
        </p>
      )}
      {retriedBy && (
        <p>
          Continued by{' '}
          <Link
            to="/intents/$intentId"
            params={{ intentId: retriedBy }}
            className="text-accent hover:underline"
          >
            its retry
          </Link>
          .
        </p>
      )}
    </div>
  )
}
