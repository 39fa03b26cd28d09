import { findWebhookKey, type SealedSecret } from '../../../db/webhooks/endpoints.js'
import { ServiceError } from '../../../domain/errors.js'
import { newSecret, sealSecret } from '../../../activities/webhooks/secrets.js'
import type { Db } from '../../../db/client/connect.js'

/** A new signing secret, and its sealed form for the database. */
export async function createSealedSecret(
  db: Db,
  owner: { accountId: string; webhookId: string },
): Promise<{ secret: string; sealed: SealedSecret }> {
  const key = await findWebhookKey(db)
  if (!key) {
    const message = 'This deployment does not deliver webhooks: its worker has no WEBHOOK_KEY_FILE.'
    throw new ServiceError('UNAVAILABLE', message)
  }
  const secret = newSecret()
  const keyId = key.id
  return { secret, sealed: { keyId, sealed: sealSecret(key, secret, { ...owner, keyId }) } }
}
