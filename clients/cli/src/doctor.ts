import {
  ConnectionError,
  ForbiddenError,
  Steward,
  StewardError,
  UnauthorizedError,
} from '@steward/sdk'
import { inCommands } from './apiTexts.js'
import { exitCodes, type ExitCode } from './exit.js'
import { readNetwork } from './network.js'
import { hostOf } from './session.js'
import { version } from './version.js'
import type { Session } from './session.js'

export type DiagnosticCheck = {
  check: string
  outcome: 'ok' | 'warning' | 'failed'
  detail: string
  /** Exit code of the program when this check fails. */
  exitCode: ExitCode
}
type CheckResult = Omit<DiagnosticCheck, 'check'>

const PATIENCE_MS = 10_000
/** Webhook signatures tolerate five minutes of clock skew. The `date` header has a resolution of one second. */
const SKEW_MS = 30_000

const ok = (detail: string): CheckResult => ({ outcome: 'ok', detail, exitCode: exitCodes.done })
const warning = (detail: string): CheckResult => ({ ...ok(detail), outcome: 'warning' })
const failed = (detail: string, exitCode: ExitCode): CheckResult => {
  return { outcome: 'failed', detail, exitCode }
}

/** Checks each thing that a command needs, in order. Skips the checks that depend on a failed one. */
export async function* examine(session: Session): AsyncGenerator<DiagnosticCheck> {
  const { access, steward, io } = session
  yield { check: 'program', ...ok(`steward ${version}, Node ${process.versions.node}`) }
  const source = access.profile === undefined ? 'the environment' : `profile ${access.profile}`
  yield { check: 'address', ...ok(`${access.baseUrl}, key of ${source}`) }

  const answer = await askReady(hostOf(access.baseUrl))
  yield { check: 'reachable', ...answer.reachable }
  if (!answer.ready) return
  yield { check: 'ready', ...answer.ready }
  yield { check: 'clock', ...answer.clock }

  const key = await examineKey(session)
  yield { check: 'key', ...key }
  if (key.outcome === 'failed') return
  yield { check: 'scope', ...(await examineScope(session)) }
  const network = async () => ok(await readNetwork(steward))
  yield {
    check: 'network',
    ...(await network().catch((error: unknown) => toCheckResult(error, session))),
  }
  if (!io.interrupted.aborted) yield { check: 'stream', ...(await examineStream(session)) }
}

type ReadinessResult = { ready?: CheckResult; clock: CheckResult; reachable: CheckResult }

/** Sends no key: a wrong address is detected before the key is sent to it. */
async function askReady(host: string): Promise<ReadinessResult> {
  const begun = Date.now()
  const none = { clock: ok('') }
  try {
    const response = await fetch(`${host}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const text = await response.text()
    const took = Date.now() - begun
    const state = parseReady(text)
    if (!state) {
      const what = `HTTP ${response.status}, from a server that is not a Steward service`
      return { ...none, reachable: failed(what, exitCodes.unreachable) }
    }
    const clock = judgeClock(response.headers.get('date'), begun, took)
    return { reachable: ok(`answered in ${took} ms`), ready: judgeReady(state), clock }
  } catch {
    const what = `${host} does not answer. Check the address and that the service runs.`
    return { ...none, reachable: failed(what, exitCodes.unreachable) }
  }
}

type Readiness = Record<'ready' | 'postgres' | 'signer' | 'temporal' | 'degraded', boolean>

function parseReady(text: string): Readiness | undefined {
  try {
    const state = JSON.parse(text) as Readiness | null
    return typeof state?.ready === 'boolean' ? state : undefined
  } catch {
    return undefined
  }
}

function judgeReady({ ready, postgres, signer, temporal }: Readiness): CheckResult {
  const parts = Object.entries({ postgres, signer, temporal })
  const missing = parts.filter(([, isThere]) => !isThere).map(([name]) => name)
  if (!ready) return failed(`not ready: ${missing.join(', ')}`, exitCodes.unreachable)
  if (missing.length === 0) return ok('database, signer and Temporal are available')
  return warning(`accepts intents and starts them later: ${missing.join(', ')} unavailable`)
}

function judgeClock(date: string | null, begun: number, took: number): CheckResult {
  const theirs = date === null ? NaN : Date.parse(date)
  if (Number.isNaN(theirs)) return warning('the service returns no date')
  const skew = Math.abs(theirs - (begun + took / 2))
  if (skew <= SKEW_MS) return ok('matches the clock of the service')
  return warning(
    `differs by ${Math.round(skew / 1000)} s from the clock of the service: webhook signatures may be rejected`,
  )
}

async function examineKey(session: Session): Promise<CheckResult> {
  try {
    const { plan, balance } = await session.steward.credits.get({ timeoutMs: PATIENCE_MS })
    const text = `valid, plan ${plan}, ${balance} credits left`
    return balance > 0 ? ok(text) : warning(text)
  } catch (error) {
    if (error instanceof UnauthorizedError) {
      return failed('is not valid for this service. Log in again: steward login', exitCodes.refused)
    }
    return toCheckResult(error, session)
  }
}

/** Previews an intent of a wallet that does not exist: the API checks the scope before the wallet. */
async function examineScope(session: Session): Promise<CheckResult> {
  try {
    await session.steward.intents.preview({
      action: 'lend',
      walletId: 'svc_wallet_none',
      amount: '1',
    })
  } catch (error) {
    if (error instanceof ForbiddenError) return warning('read only: the key cannot create anything')
    if (!(error instanceof StewardError) || (error.status ?? 500) >= 500)
      return toCheckResult(error, session)
  }
  return ok('read and write')
}

/** Opens an event stream as the other commands do. An open stream is enough; no event is needed. */
async function examineStream(session: Session): Promise<CheckResult> {
  const { access, io } = session
  const { apiKey, baseUrl } = access
  const opened = new AbortController()
  const late = AbortSignal.timeout(PATIENCE_MS)
  const signal = AbortSignal.any([io.interrupted, late, opened.signal])
  const watching: typeof fetch = async (...call) => {
    const response = await fetch(...call)
    const kind = response.headers.get('content-type') ?? ''
    if (response.ok && kind.startsWith('text/event-stream')) opened.abort()
    return response
  }
  const steward = new Steward({ apiKey, baseUrl, fetch: watching })
  try {
    await steward.events.stream({ signal })[Symbol.asyncIterator]().next()
  } catch (error) {
    if (!signal.aborted) return toCheckResult(error, session)
  }
  if (opened.signal.aborted) return ok('opens: events arrive live')
  return failed('does not open', exitCodes.unreachable)
}

function toCheckResult(error: unknown, { access }: Session): CheckResult {
  if (error instanceof ConnectionError)
    return failed('the connection was lost', exitCodes.unreachable)
  if (!(error instanceof StewardError)) throw error
  const { code, message, status = 500, requestId } = error
  const shown = inCommands(message, hostOf(access.baseUrl))
  const text = `${code}: ${shown}${requestId ? ` (request ${requestId})` : ''}`
  return failed(text, status < 500 ? exitCodes.refused : exitCodes.unreachable)
}
