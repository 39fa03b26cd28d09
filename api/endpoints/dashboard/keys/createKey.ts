import { z } from 'zod'
import { issueApiKey, type ApiKey } from '../../../../db/tenants/accounts.js'
import { listApiKeys, revokeApiKey, rollApiKey } from '../../../../db/tenants/apiKeys.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { roles, type Role } from '../../../../domain/roles.js'
import { noBody, noParams, noQuery } from '../../../http/input.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { idInput, nameInput, type KeyEntry, type NewKeyAnswer } from '../../../schemas/dashboard.js'

/** Who may make and end keys. */
const makers: readonly Role[] = ['owner', 'developer']
/** A year: whoever needs the old key for longer does not mean to replace it. */
const MAX_GRACE_HOURS = 8_760

const listKeys = memberRoute(
  {
    ...{ method: 'get', path: '/keys', roles },
    ...{ params: noParams, query: z.strictObject(pageQuery), body: z.undefined() },
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query, /^key_[0-9a-z]{26}$/)
    const { accountId } = caller
    const keys = await listApiKeys(db, accountId, slice)
    return { status: 200, body: pageBody(keys, slice, keyBody) }
  },
)

const expiryInput = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional()

/** No Idempotency-Key: what it would replay is the key, which is kept nowhere. */
const createKey = memberRoute(
  {
    ...{ method: 'post', path: '/keys', roles: makers, params: noParams, query: noQuery },
    body: z.strictObject({
      name: nameInput,
      scopes: z
        .array(z.enum(['read', 'write']))
        .min(1)
        .transform((scopes) => [...new Set(scopes)]),
      expiresAt: expiryInput,
    }),
  },
  async ({ db }, { caller, body: { expiresAt, ...wanted } }) => {
    if (expiresAt && expiresAt.getTime() <= Date.now()) {
      throw invalidRequest('expiresAt', 'expiresAt must lie ahead.')
    }
    const options = { ...wanted, ...(expiresAt && { expiresAt }) }
    const { key, stored } = await actAs(db, caller, (trx) =>
      issueApiKey(trx, caller.accountId, options),
    )
    const body: NewKeyAnswer = { key, ...keyBody(stored) }
    return { status: 201, body }
  },
)

const byId = { params: z.object({ id: idInput }), query: noQuery }

const rollKey = memberRoute(
  {
    ...{ ...byId, method: 'post', path: '/keys/:id/roll', roles: makers },
    body: z.strictObject({ graceHours: z.int().min(0).max(MAX_GRACE_HOURS) }),
  },
  async ({ db }, { caller, params: { id }, body: { graceHours } }) => {
    const { accountId } = caller
    const { key, stored, oldEndsAt } = await actAs(db, caller, (trx) =>
      rollApiKey(trx, id, { graceHours, accountId }),
    )
    const body: NewKeyAnswer = { key, ...keyBody(stored), oldEndsAt: oldEndsAt.toISOString() }
    return { status: 201, body }
  },
)

const revokeKey = memberRoute(
  { ...byId, method: 'post', path: '/keys/:id/revoke', roles: makers, body: noBody },
  async ({ db }, { caller, params: { id } }) => {
    await actAs(db, caller, (trx) => revokeApiKey(trx, id, caller.accountId))
    return { status: 200, body: { revoked: id } }
  },
)

export const keyRoutes = [listKeys, createKey, rollKey, revokeKey]

const keyBody = (key: ApiKey): KeyEntry => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  lastFour: key.lastFour,
  scopes: key.scopes,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  revokedAt: key.revokedAt?.toISOString() ?? null,
})
