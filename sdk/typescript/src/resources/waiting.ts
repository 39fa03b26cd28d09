import * as errors from '../errors.js'
import { jitter, mayPass, sleep } from '../http/retries.js'
import type { Api } from '../http/api.js'
import type { Intent } from './intent.js'

export type IntentWait = {
  signal?: AbortSignal | undefined
  /** Without it, it waits until the intent has ended. */
  timeoutMs?: number | undefined
}

/** A poll is answered at the next change, or after so many seconds. */
const WAIT_S = 10
/** Polls that bring nothing new come no faster, whatever answers them. */
const SHORTEST_MS = 5_000

type FailureClass = new (intent: Intent) => errors.IntentFailedError
const classes: Record<string, FailureClass> = {
  BRIDGE_FAILED: errors.BridgeFailedError,
  BRIDGE_TIMEOUT: errors.BridgeTimeoutError,
  SWAP_FAILED: errors.SwapFailedError,
  WITHDRAW_FAILED: errors.WithdrawFailedError,
  DEPOSIT_FAILED: errors.DepositFailedError,
  CANCELLED: errors.CancelledError,
}

/** Waits over restarts of the service and lost connections; what will not pass is thrown at once. */
export async function waitForIntent(api: Api, id: string, wait: IntentWait): Promise<Intent> {
  const { signal, timeoutMs = Infinity } = wait
  const deadline = Date.now() + timeoutMs
  let version: string | undefined
  let failures = 0
  for (;;) {
    const begun = Date.now()
    try {
      const seconds = version === undefined ? 0 : Math.min(WAIT_S, (deadline - begun) / 1000)
      const answer = await ask(api, id, { version, seconds: Math.ceil(seconds), signal })
      failures = 0
      const { body: intent } = answer
      if (isOver(intent)) return completed(intent)
      const isNews = answer.version !== version
      version = answer.version
      if (Date.now() >= deadline) throw late(intent)
      if (!isNews) await sleep(Math.max(0, SHORTEST_MS - (Date.now() - begun)), signal)
    } catch (error) {
      if (!mayPass(error) || Date.now() >= deadline) throw error
      failures += 1
      await sleep((error.retryAfter ?? 0) * 1000 + jitter(failures), signal)
    }
  }
}

type Poll = { version: string | undefined; seconds: number; signal: AbortSignal | undefined }

async function ask(api: Api, id: string, { version, seconds, signal }: Poll) {
  const query = version === undefined ? {} : { wait: seconds, version }
  const path = `/v1/intents/${encodeURIComponent(id)}`
  const { body, headers } = await api.ask<Intent>(path, query, { signal, maxRetries: 0 })
  return { body, version: headers.get('x-intent-version') ?? undefined }
}

/** A status that is newer than this library is no end, unless the intent says when it was. */
const isOver = ({ status, endedAt }: Intent) =>
  status === 'completed' || status === 'failed' || endedAt !== undefined

function completed(intent: Intent): Intent {
  if (intent.status === 'completed') return intent
  const { code = '' } = intent.error ?? {}
  const Class = Object.hasOwn(classes, code) ? classes[code] : undefined
  throw new (Class ?? errors.IntentFailedError)(intent)
}

const late = ({ id, status }: Intent) =>
  new errors.TimeoutError({ code: 'TIMEOUT', message: `${id} is still ${status}. Wait again.` })
