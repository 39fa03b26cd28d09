import type { z } from 'zod'
import type { event } from '../../../../api/schemas/events.js'
import type { dryRun, intent } from '../../../../api/schemas/intents.js'
import type {
  balances,
  funding,
  positions,
  wallet,
  yields,
} from '../../../../api/schemas/resources.js'
import type {
  createdWebhook,
  delivery,
  rotatedSecret,
  webhook,
} from '../../../../api/schemas/webhooks.js'

/** Responses of the API, inferred from the schemas of the server. */
export type Intent = z.infer<typeof intent>
export type DryRun = z.infer<typeof dryRun>
export type Step = NonNullable<Intent['executionPlan']>['steps'][number]
export type Transaction = NonNullable<Intent['results']>['transactions'][number]
export type Funds = NonNullable<NonNullable<Intent['error']>['funds']>
export type Wallet = z.infer<typeof wallet>
export type Balances = z.infer<typeof balances>
export type Positions = z.infer<typeof positions>
export type Yields = z.infer<typeof yields>
export type Funding = z.infer<typeof funding>
export type Webhook = z.infer<typeof webhook>
export type CreatedWebhook = z.infer<typeof createdWebhook>
export type RotatedSecret = z.infer<typeof rotatedSecret>
export type Delivery = z.infer<typeof delivery>
export type Event = z.infer<typeof event>

export type {
  SessionAnswer as Session,
  InvitationAnswer as Invitation,
  InviteAnswer,
  InviteEntry,
  PasswordResetAnswer,
  AuditEntry,
  KeyEntry,
  MemberEntry,
  OwnAccountEntry,
  NewKeyAnswer,
  SessionEntry,
} from '../../../../api/schemas/dashboard.js'
export type {
  AttentionItem,
  KeyUseDay,
  LedgerEntryBody as LedgerEntry,
  OverviewAnswer as OverviewState,
  RequestEntryBody as RequestEntry,
  SearchAnswer,
  TrendsAnswer as Trends,
  UsageDay,
  YieldPointBody as YieldPoint,
} from '../../../../api/schemas/activity.js'
export type { SystemAnswer as System } from '../../../../api/schemas/system.js'
export type { Role } from '../../../../domain/roles.js'

export type Page<T> = { data: T[]; nextCursor: string | null }
