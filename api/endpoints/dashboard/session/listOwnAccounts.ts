import { z } from 'zod'
import { readOwnAccounts } from '../../../../db/accounts/sessions.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { anyMember } from '../memberSpecs.js'
import type { OwnAccountEntry } from '../../../schemas/dashboard.js'

export const listOwnAccounts = memberRoute(
  { ...anyMember, method: 'get', path: '/session/accounts', body: z.undefined() },
  async ({ db }, { caller }) => {
    const accounts = await readOwnAccounts(db, caller.userId)
    const data = accounts.map((account): OwnAccountEntry => ({
      ...account,
      isCurrent: account.id === caller.accountId,
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)
