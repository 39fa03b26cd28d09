import { z } from 'zod'
import { findDeliveries as findDeliveryRows } from '../../../db/webhooks/deliveries.js'
import { fromDeliveryId } from '../../../domain/events/webhooks.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../http/pages.js'
import { idInput } from '../../schemas/dashboard.js'
import { deliveryBody } from '../webhooks/deliveryBody.js'
import { anyMemberReads } from './memberSpecs.js'

const delivery = z
  .string()
  .regex(/^whd_[1-9]\d{0,17}$/, 'must be the id of a delivery: `whd_…`')
  .transform(fromDeliveryId)

/** Deliveries of all endpoints of the account: those of an intent, or one by its id. */
export const findDeliveries = memberRoute(
  {
    ...anyMemberReads,
    path: '/deliveries',
    query: z
      .strictObject({
        ...pageQuery(/^\d{1,18}$/),
        intentId: idInput.optional(),
        deliveryId: delivery.optional(),
      })
      .refine(({ intentId, deliveryId }) => intentId !== undefined || deliveryId !== undefined, {
        error: 'must be the intent of the deliveries, or send deliveryId',
        path: ['intentId'],
      }),
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query)
    const { intentId, deliveryId: id } = query
    const rows = await findDeliveryRows(db, caller.accountId, { intentId, id, slice })
    const named = rows.map((row) => ({ id: row.id.toString(), row }))
    return { status: 200, body: pageBody(named, slice, ({ row }) => deliveryBody(row)) }
  },
)
