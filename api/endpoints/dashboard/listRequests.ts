import { z } from 'zod'
import { listRequests as listRequestRows, type RequestRow } from '../../../db/usage/listRequests.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import {
  callerInput,
  codeInput,
  methodInput,
  requestIdInput,
  resourceInput,
  statusInput,
  type RequestEntryBody,
} from '../../schemas/activity.js'
import { safeText } from '../../schemas/safeText.js'
import { anyMemberReads } from './memberSpecs.js'

export const listRequests = memberRoute(
  {
    ...anyMemberReads,
    path: '/requests',
    query: z.strictObject({
      ...pageQuery(/^req_[0-9a-z]{26}$/),
      method: methodInput.optional(),
      path: safeText(128).optional(),
      status: statusInput.optional(),
      code: codeInput.optional(),
      keyId: callerInput.optional(),
      userId: callerInput.optional(),
      requestId: requestIdInput.optional(),
      resourceId: resourceInput.optional(),
    }),
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query)
    const { method, path, status, code, keyId, userId, requestId, resourceId } = query
    const isWallet = resourceId?.startsWith('svc_wallet_')
    const filter = {
      ...{ slice, method, path, status, code },
      callerId: keyId ?? userId,
      idPrefix: requestId,
      ...(isWallet ? { walletId: resourceId } : { resourceId }),
    }
    const rows = await listRequestRows(db, caller.accountId, filter)
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
