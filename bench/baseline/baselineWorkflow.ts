import { proxyActivities } from '@temporalio/workflow'

/** `steps`: one activity each. `plan`: makes the inputs as large as those of an intent. */
export type BaselineInput = {
  intentId: string
  walletId: string
  steps: string[]
  plan: Record<string, unknown>
}

const activities = proxyActivities<Record<string, (input: object) => Promise<object>>>({
  startToCloseTimeout: '75s',
})

/** Empty activities, as many as an intent has steps and with the same names. */
export async function baseline({ steps, plan, ...shared }: BaselineInput): Promise<void> {
  for (const [i, name] of steps.entries()) {
    const step = (plan.steps as object[])[i]
    await activities[name]?.executeWithOptions({ summary: name }, [{ ...shared, step }])
  }
}
