import { z } from 'zod'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noQuery } from '../../http/input.js'
import { webhook, webhookAnswer, webhookIdInput } from '../../schemas/webhooks.js'

export const webhookCall = { caller: apiKey({ credits: creditCosts.webhooks }), query: noQuery }

export const oneWebhookCall = { ...webhookCall, params: z.object({ webhookId: webhookIdInput }) }

export const webhookResponse = {
  description: 'The endpoint.',
  schema: webhook,
  examples: { webhook: webhookAnswer },
}
