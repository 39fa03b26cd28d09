import { z } from 'zod'
import { roles } from '../../domain/roles.js'
import { tiers } from '../../domain/tiers.js'
import { safeText } from './safeText.js'

/** What the dashboard sends and gets, besides what the endpoints with a key have as well. */

/** @see https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const emailFormat = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(\.[a-z\d-]+)*$/i

/** As it is stored and compared: in lower case. */
export const emailInput = safeText(254)
  .refine((text) => emailFormat.test(text.trim()), 'must be an e-mail address')
  .transform((text) => text.trim().toLowerCase())
/** No rule of composition: length is what keeps guesses away. */
export const newPasswordInput = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(200)
  .refine((text) => text.isWellFormed(), 'has invalid characters')
/** What a user types may be anything: it is compared, not judged. */
export const passwordInput = z.string().min(1).max(200)
export const nameInput = safeText(100).refine((text) => /\S/.test(text), 'must not be blank')
export const roleInput = z.enum(roles)
export const tokenInput = safeText(64)
export const idInput = safeText(64)

const time = z.iso.datetime()
const role = z.enum(roles)

/** Who is signed in, where, and as what. */
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
  /** Only operators are told. */
  temporalUi: z.string().optional(),
})
export type SessionAnswer = z.infer<typeof sessionAnswer>

/** One of the accounts of whoever is signed in. */
export const ownAccountEntry = z.strictObject({
  id: z.string(),
  name: z.string(),
  role,
  /** The one that the session is in. */
  isCurrent: z.boolean(),
})
export type OwnAccountEntry = z.infer<typeof ownAccountEntry>

/** One of the places where a user is signed in. */
export const sessionEntry = z.strictObject({
  id: z.string(),
  /** The session that asks. */
  isCurrent: z.boolean(),
  agent: z.string(),
  address: z.string(),
  createdAt: time,
  lastSeenAt: time,
  expiresAt: time,
})
export type SessionEntry = z.infer<typeof sessionEntry>

/** What a link to an account is for. */
export const invitationAnswer = z.strictObject({
  account: z.strictObject({ name: z.string() }),
  role,
  /** Null: whoever has the link says his own. */
  email: z.string().nullable(),
  /** Its e-mail has a password already: that one is asked for, and no new one. */
  isKnown: z.boolean(),
  expiresAt: time,
})
export type InvitationAnswer = z.infer<typeof invitationAnswer>

export const memberEntry = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  createdAt: time,
})
export type MemberEntry = z.infer<typeof memberEntry>

/** What a member has done to keys, members and the like. */
export const actEntry = z.strictObject({
  id: z.string(),
  at: time,
  /** `email`: null for one who is no member any more. */
  by: z.strictObject({ id: z.string(), email: z.string().nullable() }),
  /** `key create`, `member role` and the like. */
  action: z.string(),
  /** The id of what it was done to. */
  subject: z.string(),
  detail: z.string().nullable(),
})
export type ActEntry = z.infer<typeof actEntry>

/** An invitation that nobody has followed yet. */
export const inviteEntry = z.strictObject({
  id: z.string(),
  /** Null: whoever has the link says his own. */
  email: z.string().nullable(),
  role,
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

/** A key that is shown once; with `oldEndsAt` the successor of another one. */
export const newKeyAnswer = keyEntry.extend({ key: z.string(), oldEndsAt: time.optional() })
export type NewKeyAnswer = z.infer<typeof newKeyAnswer>
