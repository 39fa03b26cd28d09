export { Steward } from './client.js'
export * from './errors.js'
export type { Amount } from './amounts.js'
export type { Known } from './known.js'
export type { Metadata } from './metadata.js'
export type { List, Page, PageParams } from './http/pages.js'
export type { CallOptions, WriteOptions } from './http/send.js'
export type {
  Fetch,
  Hooks,
  RequestFacts,
  ResponseFacts,
  RetryFacts,
  StewardOptions,
} from './settings.js'
export type * from './resources/balances.js'
export type * from './resources/credits.js'
export type * from './resources/demo.js'
export type * from './resources/event.js'
export type * from './resources/events.js'
export type * from './resources/funding.js'
export type * from './resources/intent.js'
export type * from './resources/intents.js'
export type * from './resources/positions.js'
export type * from './resources/wallets.js'
export type * from './resources/webhooks.js'
export type * from './resources/yields.js'
export type { IntentWait } from './resources/waiting.js'
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks/verify.js'
