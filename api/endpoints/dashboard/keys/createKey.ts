import { z } from 'zod'
import { issueApiKey } from '../../../../db/accounts/accounts.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../../http/input.js'
import { nameInput, type NewKeyAnswer } from '../../../schemas/dashboard.js'
import { keyMakers } from '../memberSpecs.js'
import { keyBody } from './keyBody.js'

const expiryInput = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional()

/** No Idempotency-Key: a replay would need the key, and keys are stored as digests only. */
export const createKey = memberRoute(
  {
    ...{ method: 'post', path: '/keys', roles: keyMakers, params: noParams, query: noQuery },
    body: z.strictObject({
      name: nameInput,
      scopes: z
        .array(z.enum(['read', 'write']))
        .min(1)
        .transform((scopes) => [...new Set(scopes)]),
      expiresAt: expiryInput,
    }),
  },
  async ({ db }, { caller, response, body: { expiresAt, ...wanted } }) => {
    if (expiresAt && expiresAt.getTime() <= Date.now()) {
      throw invalidRequest('expiresAt', 'expiresAt must be in the future.')
    }
    const options = { ...wanted, ...(expiresAt && { expiresAt }) }
    const { key, stored } = await actAs(db, { caller, response }, (trx) =>
      issueApiKey(trx, caller.accountId, options),
    )
    const body: NewKeyAnswer = { key, ...keyBody(stored) }
    return { status: 201, body }
  },
)
