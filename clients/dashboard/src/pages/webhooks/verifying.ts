/** Code example: verifies the signature of a webhook. */
export const VERIFYING = `import { Steward } from '@steward/sdk'

// body: the raw request body, before any parsing
const event = await Steward.webhooks.verify(body, headers, secret)
if (event.type === 'intent.completed') await store(event.data)`
