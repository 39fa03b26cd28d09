/** How a receiver of events knows that they are ours. */
export const VERIFYING = `import { Steward } from '@steward/sdk'

// body: the text as it came, before anything has parsed it
const event = await Steward.webhooks.verify(body, headers, secret)
if (event.type === 'intent.completed') await book(event.data)`
