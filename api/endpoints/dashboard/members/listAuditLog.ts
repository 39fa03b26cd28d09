import { z } from 'zod'
import { listMemberActions, type MemberAction } from '../../../../db/accounts/auditLog.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams } from '../../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { owners } from '../memberSpecs.js'
import type { AuditEntry } from '../../../schemas/dashboard.js'

export const listAuditLog = memberRoute(
  {
    ...{ method: 'get', path: '/members/audit-log', roles: owners },
    ...{ params: noParams, query: z.strictObject(pageQuery(/^\d{1,18}$/)), body: z.undefined() },
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query)
    const auditLog = await listMemberActions(db, caller.accountId, slice)
    return { status: 200, body: pageBody(auditLog, slice, memberActionBody) }
  },
)

const memberActionBody = ({
  id,
  at,
  userId,
  email,
  action,
  subject,
  detail,
}: MemberAction): AuditEntry => ({
  ...{ id, action, subject, detail },
  at: at.toISOString(),
  by: { id: userId, email },
})
