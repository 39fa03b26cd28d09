import { rotateSecret } from '../../../db/webhooks/endpoints.js'
import { writeRoute } from '../../http/route.js'
import { rotateSecretBody, rotatedAnswer, rotatedSecret } from '../../schemas/webhooks.js'
import { createSealedSecret } from './createSealedSecret.js'
import { oneWebhookCall } from './webhookSpec.js'

export const rotateWebhookSecret = writeRoute(
  {
    ...{ ...oneWebhookCall, path: '/webhooks/:webhookId/rotate-secret', body: rotateSecretBody },
    docs: {
      operationId: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Rotate the secret',
      description:
        'Creates a new secret. During the grace period both secrets sign: `webhook-signature` then has two signatures, separated by a space. Older secrets expire at once.',
      requests: { day: { graceHours: 24 } },
      responses: {
        200: {
          description: 'The new secret. It is not shown again.',
          schema: rotatedSecret,
          examples: { rotated: rotatedAnswer },
        },
      },
      errors: ['WEBHOOK_NOT_FOUND'],
    },
  },
  async ({ db }, { caller: { accountId }, params: { webhookId }, body }, commit) => {
    const { secret, sealed } = await createSealedSecret(db, { accountId, webhookId })
    return commit(async (trx) => {
      const { graceHours } = body
      const until = await rotateSecret(trx, { accountId, id: webhookId }, { ...sealed, graceHours })
      const kept = { previousUntil: until.toISOString() }
      return { status: 200, body: { secret, ...kept }, kept }
    })
  },
)
