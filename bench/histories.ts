import { Client, Connection } from '@temporalio/client'
import { inTurns } from './callers.js'

const SAMPLE = 50
const WIDTH = 4
const { WORKFLOW_TASK_COMPLETED, SIGNALED, ACTIVITY_STARTED } = {
  WORKFLOW_TASK_COMPLETED: 'workflowTaskCompletedEventAttributes',
  SIGNALED: 'workflowExecutionSignaledEventAttributes',
  ACTIVITY_STARTED: 'activityTaskStartedEventAttributes',
} as const

/** What some of the workflows have written into their histories, each on average. */
export async function readHistories(address: string, ids: string[]) {
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const histories = await inTurns(ids.slice(0, SAMPLE), WIDTH, async (id) => {
    const { events } = await client.workflow.getHandle(id).fetchHistory()
    const list = events ?? []
    return {
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
    events: mean((one) => one.events),
    workflowTasks: mean((one) => one.tasks),
    signals: mean((one) => one.signals),
    attempts: mean((one) => one.attempts),
  }
}
