/** Waits for an intent that another process has begun to wait for: `resume.ts <intent> <last event>`. */
import { Steward } from '@steward/sdk'

const [, , intentId = '', after] = process.argv
const { status } = await new Steward().intents.waitForCompletion(intentId, {
  after,
  onEvent: ({ id }) => console.log(id),
})
console.log(status)
