import { proxyActivities } from '@temporalio/workflow'
import type { ExecuteIntentInput } from '../workflows/executeIntent.js'

/** `steps`: one activity each. */
export type TwinInput = { steps: string[]; intent: ExecuteIntentInput }

const steps = proxyActivities<Record<string, (input: object) => Promise<object>>>({
  startToCloseTimeout: '75s',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** What is left of `executeIntent` when nothing is done: as many activities, of the same kinds, with as much to say. */
export async function twin({ steps: names, intent }: TwinInput): Promise<{ status: string }> {
  const { plan, ...shared } = intent
  for (const [i, name] of names.entries()) {
    const step = plan?.steps[Math.min(i, plan.steps.length - 1)]
    const isLast = i === names.length - 1
    const input = { ...shared, deadlineMs: Date.now(), step, ...(isLast && { isLast }) }
    await steps[name]?.executeWithOptions({ summary: name }, [input])
  }
  return { status: 'completed' }
}
