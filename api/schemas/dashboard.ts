import { z } from 'zod'
import { isCommonPassword } from '../../domain/commonPasswords.js'
import { roles } from '../../domain/roles.js'
import { tiers } from '../../domain/tiers.js'
import { safeText } from './safeText.js'

/** Requests and responses of endpoints for the dashboard only. */

/** @see https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const emailFormat = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(\.[a-z\d-]+)*$/i

/** Lower-cased, as it is stored and compared. */
export const emailInput = safeText(254)
  .refine((text) => emailFormat.test(text.trim()), 'must be an e-mail address')
  .transform((text) => text.trim().toLowerCase())
/** No rules of composition: length protects against guesses, and common passwords are refused. */
export const newPasswordInput = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(200)
  .refine((text) => text.isWellFormed(), 'has invalid characters')
  .refine((text) => !isCommonPassword(text), 'is a common password: choose another')
/** Only compared, so any text is valid. */
export const passwordInput = z.string().min(1).max(200)
export const nameInput = safeText(100)
export const roleInput = z.enum(roles)
export const tokenInput = safeText(64)
export const idInput = safeText(64)

const time = z.iso.datetime()
const role = z.enum(roles)

/** The signed-in user, the account and the role. */
export const sessionAnswer = z.strictObject({
  user: z.strictObject({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    isOperator: z.boolean(),
  }),
  account: z.strictObject({ id: z.string(), name: z.string(), plan: z.enum(tiers) }),
  role,
  network: z.string(),
  environment: z.enum(['devnet', 'testnet', 'mainnet']),
  /** Page of the namespace in the Temporal UI. For operators only. */
  temporalUi: z.string().optional(),
})
export type SessionAnswer = z.infer<typeof sessionAnswer>

/** An account of the signed-in user. */
export const ownAccountEntry = z.strictObject({
  id: z.string(),
  name: z.string(),
  role,
  /** True for the account of this session. */
  isCurrent: z.boolean(),
})
export type OwnAccountEntry = z.infer<typeof ownAccountEntry>

/** An open session of the user. */
export const sessionEntry = z.strictObject({
  id: z.string(),
  /** True for the session of this request. */
  isCurrent: z.boolean(),
  agent: z.string(),
  address: z.string(),
  createdAt: time,
  lastSeenAt: time,
  expiresAt: time,
})
export type SessionEntry = z.infer<typeof sessionEntry>

/** The invitation behind a link. */
export const invitationAnswer = z.strictObject({
  account: z.strictObject({ name: z.string() }),
  role,
  /** Null: the holder of the link chooses one. */
  email: z.string().nullable(),
  expiresAt: time,
})
export type InvitationAnswer = z.infer<typeof invitationAnswer>

export const memberEntry = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  /** Whether the caller may create a link with which this member chooses a new password. */
  mayResetPassword: z.boolean(),
  createdAt: time,
})
export type MemberEntry = z.infer<typeof memberEntry>

/** An entry of the audit log: a change of keys, members and the like. */
export const auditEntry = z.strictObject({
  id: z.string(),
  at: time,
  /** `email`: null for a former member. */
  by: z.strictObject({ id: z.string(), email: z.string().nullable() }),
  /** `key create`, `member role` and the like. */
  action: z.string(),
  /** Id of the changed resource. */
  subject: z.string(),
  detail: z.string().nullable(),
})
export type AuditEntry = z.infer<typeof auditEntry>

/** An open invitation. */
export const inviteEntry = z.strictObject({
  id: z.string(),
  /** Null: the holder of the link chooses one. */
  email: z.string().nullable(),
  role,
  /** Null: an operator of the deployment. `email`: null for a former member. */
  by: z.strictObject({ id: z.string(), email: z.string().nullable() }).nullable(),
  createdAt: time,
  expiresAt: time,
})
export type InviteEntry = z.infer<typeof inviteEntry>

/** A link that is shown once. */
export const inviteAnswer = z.strictObject({
  id: z.string(),
  url: z.string(),
  email: z.string(),
  role,
  expiresAt: time,
})
export type InviteAnswer = z.infer<typeof inviteAnswer>

/** A link that is shown once. It works for a day. */
export const passwordResetAnswer = z.strictObject({ url: z.string() })
export type PasswordResetAnswer = z.infer<typeof passwordResetAnswer>

export const keyEntry = z.strictObject({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  lastFour: z.string(),
  scopes: z.array(z.enum(['read', 'write'])),
  createdAt: time,
  lastUsedAt: time.nullable(),
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
})
export type KeyEntry = z.infer<typeof keyEntry>

/** A new key, shown once. `oldEndsAt`: expiry of the key that it replaces. */
export const newKeyAnswer = keyEntry.extend({ key: z.string(), oldEndsAt: time.optional() })
export type NewKeyAnswer = z.infer<typeof newKeyAnswer>
