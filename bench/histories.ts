import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { inTurns } from './callers.js'
import type { StackFacts } from '../test/e2e/stack.js'

const SAMPLE = 50
const WIDTH = 4
const { WORKFLOW_TASK_COMPLETED, SIGNALED, ACTIVITY_STARTED } = {
  WORKFLOW_TASK_COMPLETED: 'workflowTaskCompletedEventAttributes',
  SIGNALED: 'workflowExecutionSignaledEventAttributes',
  ACTIVITY_STARTED: 'activityTaskStartedEventAttributes',
} as const

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>

/**
 * Billable actions of a workflow on Temporal Cloud: its start, each activity, each retry, each timer, each signal and
 * each change of its search attributes. Devnet steps finish before their first heartbeat. Queries depend on the
 * readers.
 * @see https://docs.temporal.io/cloud/actions
 */
export function countActions(events: Events): number {
  const others = events.filter(
    (event) =>
      event.timerStartedEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.upsertWorkflowSearchAttributesEventAttributes,
  )
  const attempts = events.map((event) => event[ACTIVITY_STARTED]?.attempt ?? 0)
  return 1 + others.length + attempts.reduce((sum, attempt) => sum + attempt, 0)
}

/**
 * Times of the stages of a workflow with one activity, by Temporal's clock in Unix ms: started, first workflow task
 * begun and completed, activity completed, second workflow task begun, closed. Waits for its end.
 */
export async function readTimes(client: Client, id: string) {
  const handle = client.workflow.getHandle(id)
  await handle.result()
  const { events } = await handle.fetchHistory()
  const timesOf = (kind: keyof Events[number]) =>
    (events ?? [])
      .filter((event) => event[kind])
      .map(({ eventTime }) => Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1e6)
  const [started = NaN] = timesOf('workflowExecutionStartedEventAttributes')
  const [taken = NaN, again = NaN] = timesOf('workflowTaskStartedEventAttributes')
  const [decided = NaN] = timesOf(WORKFLOW_TASK_COMPLETED)
  const [heard = NaN] = timesOf('activityTaskCompletedEventAttributes')
  const [closed = NaN] = timesOf('workflowExecutionCompletedEventAttributes')
  return { started, taken, decided, heard, 'taken again': again, closed }
}

/** Average history events of the given workflows by type. */
export async function readHistories(address: string, ids: string[]) {
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const histories = await inTurns(ids.slice(0, SAMPLE), WIDTH, async (id) => {
    const { events } = await client.workflow.getHandle(id).fetchHistory()
    const list = events ?? []
    return {
      actions: countActions(list),
      events: list.length,
      tasks: list.filter((event) => event[WORKFLOW_TASK_COMPLETED]).length,
      signals: list.filter((event) => event[SIGNALED]).length,
      attempts: list.reduce((sum, event) => sum + (event[ACTIVITY_STARTED]?.attempt ?? 0), 0),
    }
  })
  await connection.close()
  const mean = (pick: (one: (typeof histories)[number]) => number) =>
    Number((histories.reduce((sum, one) => sum + pick(one), 0) / histories.length).toFixed(1))
  return {
    actions: mean((one) => one.actions),
    events: mean((one) => one.events),
    workflowTasks: mean((one) => one.tasks),
    signals: mean((one) => one.signals),
    attempts: mean((one) => one.attempts),
  }
}

/** Step attempts by the process id of the worker. */
export async function countAttempts(
  { temporalAddress }: Pick<StackFacts, 'temporalAddress'>,
  ids: string[],
): Promise<Map<number, number>> {
  const connection = await Connection.connect({ address: temporalAddress })
  const client = new Client({ connection })
  const begun = new Map<number, number>()
  await inTurns(ids, WIDTH, async (id) => {
    const { events } = await client.workflow.getHandle(id).fetchHistory()
    for (const event of events ?? []) {
      const pid = parseInt(event[ACTIVITY_STARTED]?.identity ?? '', 10)
      if (!Number.isNaN(pid)) begun.set(pid, (begun.get(pid) ?? 0) + 1)
    }
  })
  await connection.close()
  return begun
}
