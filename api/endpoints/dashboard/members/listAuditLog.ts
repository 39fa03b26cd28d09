import { z } from 'zod'
import { listActs, type MemberAct } from '../../../../db/tenants/acts.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams } from '../../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { owners } from '../memberSpecs.js'
import type { ActEntry } from '../../../schemas/dashboard.js'

export const listAuditLog = memberRoute(
  {
    ...{ method: 'get', path: '/members/acts', roles: owners },
    ...{ params: noParams, query: z.strictObject(pageQuery), body: z.undefined() },
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query, /^\d{1,18}$/)
    const acts = await listActs(db, caller.accountId, slice)
    return { status: 200, body: pageBody(acts, slice, actBody) }
  },
)

const actBody = ({ id, at, userId, email, action, subject, detail }: MemberAct): ActEntry => ({
  ...{ id, action, subject, detail },
  at: at.toISOString(),
  by: { id: userId, email },
})
