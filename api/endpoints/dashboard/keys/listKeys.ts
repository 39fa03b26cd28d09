import { z } from 'zod'
import { listApiKeys } from '../../../../db/accounts/apiKeys.js'
import { roles } from '../../../../domain/roles.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams } from '../../../http/input.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { keyBody } from './keyBody.js'

export const listKeys = memberRoute(
  {
    ...{ method: 'get', path: '/keys', roles },
    ...{
      params: noParams,
      query: z.strictObject(pageQuery(/^key_[0-9a-z]{26}$/)),
      body: z.undefined(),
    },
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query)
    const { accountId } = caller
    const keys = await listApiKeys(db, accountId, slice)
    return { status: 200, body: pageBody(keys, slice, keyBody) }
  },
)
