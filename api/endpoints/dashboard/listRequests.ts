import { getAddress } from 'ethers'
import { z } from 'zod'
import { listRequests, type RequestRow } from '../../../db/tenants/listRequests.js'
import { findAnything, type Found } from '../../../db/tenants/search.js'
import { safeText } from '../../schemas/safeText.js'
import { roles } from '../../../domain/roles.js'
import { noParams } from '../../http/input.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import {
  callerInput,
  requestIdInput,
  resourceInput,
  searchInput,
  statusInput,
  type RequestEntryBody,
  type SearchAnswer,
} from '../../schemas/activity.js'

/** For whoever is signed in, whatever he may do. */
const reading = { method: 'get', params: noParams, body: z.undefined(), roles } as const

const readRequests = memberRoute(
  {
    ...reading,
    path: '/requests',
    query: z.strictObject({
      ...pageQuery,
      method: safeText(16).optional(),
      path: safeText(128).optional(),
      status: statusInput.optional(),
      code: safeText(64).optional(),
      keyId: callerInput.optional(),
      userId: callerInput.optional(),
      requestId: requestIdInput.optional(),
      resourceId: resourceInput.optional(),
    }),
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query, /^req_[0-9a-z]{26}$/)
    const { method, path, status, code, keyId, userId, requestId, resourceId } = query
    const isWallet = resourceId?.startsWith('svc_wallet_')
    const filter = {
      ...{ slice, method, path, status, code },
      callerId: keyId ?? userId,
      idPrefix: requestId,
      ...(isWallet ? { walletId: resourceId } : { resourceId }),
    }
    const rows = await listRequests(db, caller.accountId, filter)
    return { status: 200, body: pageBody(rows, slice, requestBody) }
  },
)

function requestBody({ at, callerId, ...row }: RequestRow): RequestEntryBody {
  const isKey = callerId.startsWith('key_')
  return {
    ...row,
    at: at.toISOString(),
    keyId: isKey ? callerId : null,
    userId: isKey ? null : callerId,
  }
}

/** Where the dashboard shows what was found. */
const pathOf: Record<Found['kind'], (id: string) => string> = {
  intent: (id) => `/intents/${id}`,
  wallet: (id) => `/wallets/${id}`,
  request: (id) => `/requests?requestId=${id}`,
  key: (id) => `/keys/${id}`,
}

const addresses = /^0x[0-9a-f]{40}$/i

const search = memberRoute(
  { ...reading, path: '/search', query: z.strictObject({ q: searchInput }) },
  async ({ db }, { caller, query: { q } }) => {
    const text = q.trim()
    // Stored with its checksum; a reader may have it from where it is written otherwise.
    const stored = addresses.test(text) ? getAddress(text.toLowerCase()) : text
    const found = await findAnything(db, caller.accountId, stored)
    const data = found.map(({ kind, id }) => ({ kind, id, path: pathOf[kind](id) }))
    return { status: 200, body: { data } satisfies SearchAnswer }
  },
)

export const requestRoutes = [readRequests, search]
