import {
  disableWebhook,
  findSendable,
  hasAccepted,
  recordAttempt,
  type DeliveryRun,
  type Sendable,
  type Verdict,
} from '../db/webhooks/sending.js'
import { createLimiter } from '../runtime/limiter.js'
import { eventBody } from '../domain/events/eventBody.js'
import { GIVE_UP_MS, retryDelayMs, type Attempt } from '../domain/events/webhooks.js'
import { send } from './webhooks/send.js'
import { SendFailure } from './webhooks/failure.js'
import { openSecret, type PrivateWebhookKey } from './webhooks/secrets.js'
import { signedHeaders } from './webhooks/sign.js'
import { stillWaiting, toRetryable } from './failures.js'
import { RETRY_MS } from '../runtime/durations.js'
import type { Db } from '../db/client/connect.js'
import type { Guard } from './webhooks/address.js'

export type DeliveryTools = {
  db: Db
  key: PrivateWebhookKey
  guard: Guard
  /** Milliseconds between an attempt, counted from 1, and the next one. Defaults to the documented schedule. */
  retryDelayMs?: (attempt: number) => number
}

/** `deliveryId`: decimal text of the row's id. */
export type DeliverInput = { deliveryId: string; run: number }
/** `retryInMs`: pause before the next attempt. Absent when the run has finished. */
export type DeliverResult = { retryInMs?: number }

/** Activities of the task queue `delivery`. */
export function createDeliveryActivities(tools: DeliveryTools) {
  const limit = createEndpointLimiter()
  return {
    async deliver({ deliveryId, run }: DeliverInput): Promise<DeliverResult> {
      try {
        return await deliver(tools, limit, { deliveryId: BigInt(deliveryId), run })
      } catch (error) {
        throw toRetryable(error)
      }
    },
  }
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>

/** Concurrent attempts per endpoint. A slow endpoint delays only its own deliveries. */
const PER_ENDPOINT = { atOnce: 25, patienceMs: 0 }

const createEndpointLimiter = () =>
  createLimiter(PER_ENDPOINT, () =>
    stillWaiting('The endpoint is busy.', RETRY_MS * (1 + 4 * Math.random())),
  )

/**
 * Attempts a delivery once and stores the outcome. Delivery is at least once: after a crash between the request and
 * the commit the same event is sent again, under the same `webhook-id`.
 */
async function deliver(
  tools: DeliveryTools,
  limit: ReturnType<typeof createEndpointLimiter>,
  run: DeliveryRun,
): Promise<DeliverResult> {
  const { db } = tools
  const sendable = await findSendable(db, run)
  if (!sendable) return {}
  const { webhook } = sendable
  if (!webhook.isEnabled) {
    const attempt: Attempt = { at: new Date().toISOString(), ms: 0, error: 'endpoint_disabled' }
    await recordAttempt(db, run, { attempt, verdict: { status: 'failed' } })
    return {}
  }
  return limit(webhook.id, async () => {
    const attempt = await attemptOnce(tools, sendable)
    const verdict = judge(tools, sendable, attempt)
    if (verdict.status === 'failed') await disableFailed(db, webhook.id, attempt)
    await recordAttempt(db, run, { attempt, verdict })
    return verdict.status === 'pending' ? { retryInMs: verdict.retryInMs } : {}
  })
}

async function attemptOnce(
  { guard, key }: DeliveryTools,
  { webhook, secrets, event }: Sendable,
): Promise<Attempt> {
  const body = eventBody(event)
  const text = JSON.stringify(body)
  const opened = await Promise.all(
    secrets.map(({ keyId, sealed }) =>
      openSecret(key, sealed, { webhookId: webhook.id, accountId: webhook.accountId, keyId }),
    ),
  )
  const at = new Date()
  const message = { id: body.id, atSeconds: Math.floor(at.getTime() / 1_000), body: text }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Steward-Webhooks/1',
    ...signedHeaders(message, opened),
  }
  const outcome = await trySend(guard, { url: webhook.url, headers, body: text })
  return { at: at.toISOString(), ms: Date.now() - at.getTime(), ...outcome }
}

async function trySend(
  guard: Guard,
  outgoing: Parameters<typeof send>[1],
): Promise<Pick<Attempt, 'status' | 'body' | 'error'>> {
  try {
    const { status, body } = await send(guard, outgoing)
    const isAccepted = status >= 200 && status < 300
    return { status, body, ...(!isAccepted && { error: 'status_refused' as const }) }
  } catch (error) {
    if (error instanceof SendFailure) return { error: error.reason }
    throw error
  }
}

const GONE = 410

function judge(
  { retryDelayMs: delayOf = retryDelayMs }: DeliveryTools,
  { runAttempts, elapsedMs }: Sendable,
  { error, status }: Attempt,
): Verdict {
  if (error === undefined) return { status: 'delivered' }
  const leftMs = GIVE_UP_MS - elapsedMs
  if (status === GONE || leftMs <= 0) return { status: 'failed' }
  // Jitter spreads the retries of deliveries that failed at the same time.
  const delayMs = delayOf(runAttempts + 1) * (1 + Math.random() / 10)
  return { status: 'pending', retryInMs: Math.ceil(Math.min(delayMs, leftMs)) }
}

/** Keeps an endpoint enabled when it has accepted another delivery within the give-up time. */
async function disableFailed(db: Db, webhookId: string, { status }: Attempt): Promise<void> {
  if (status === GONE) await disableWebhook(db, webhookId, 'gone')
  else if (!(await hasAccepted(db, webhookId, GIVE_UP_MS))) {
    await disableWebhook(db, webhookId, 'failing')
  }
}
