import type { StoredIntent } from '../../../../db/intents/intents.js'
import type { World } from '../fixture.js'

/** Changes a step of a plan as only the database owner can. */
export async function forge(world: World, intentId: string, sequence: number, changes: object) {
  const row = await world.db('intent').where({ id: intentId }).first<StoredIntent>()
  const steps = row.plan?.steps.map((step) => {
    return step.sequence === sequence ? { ...step, ...changes } : step
  })
  const plan = JSON.stringify({ ...row.plan, steps })
  await world.db('intent').where({ id: intentId }).update({ plan })
}
