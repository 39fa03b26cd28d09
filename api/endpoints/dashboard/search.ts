import { getAddress } from 'ethers'
import { z } from 'zod'
import { findAnything, type Found } from '../../../db/usage/search.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { searchInput, type SearchAnswer } from '../../schemas/activity.js'
import { anyMemberReads } from './memberSpecs.js'

/** Dashboard path of a search result. */
const pathOf: Record<Found['kind'], (id: string) => string> = {
  intent: (id) => `/intents/${id}`,
  wallet: (id) => `/wallets/${id}`,
  request: (id) => `/requests?requestId=${id}`,
  key: (id) => `/keys/${id}`,
}

const addresses = /^0x[0-9a-f]{40}$/i

export const search = memberRoute(
  { ...anyMemberReads, path: '/search', query: z.strictObject({ q: searchInput }) },
  async ({ db }, { caller, query: { q } }) => {
    const text = q.trim()
    // Addresses are stored with their checksum.
    const stored = addresses.test(text) ? getAddress(text.toLowerCase()) : text
    const found = await findAnything(db, caller.accountId, stored)
    const data = found.map(({ kind, id }) => ({ kind, id, path: pathOf[kind](id) }))
    return { status: 200, body: { data } satisfies SearchAnswer }
  },
)
