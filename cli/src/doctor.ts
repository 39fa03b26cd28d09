import {
  ConnectionError,
  ForbiddenError,
  Steward,
  StewardError,
  UnauthorizedError,
} from '@steward/sdk'
import { exitCodes, type ExitCode } from './exit.js'
import { readNetwork } from './network.js'
import { hostOf } from './session.js'
import { version } from './version.js'
import type { Session } from './session.js'

export type Check = {
  check: string
  outcome: 'ok' | 'warning' | 'failed'
  detail: string
  /** How the program ends for its sake. */
  exitCode: ExitCode
}
type Finding = Omit<Check, 'check'>

const PATIENCE_MS = 10_000
/** Signatures of webhooks are good for five minutes either way; the header tells whole seconds. */
const SKEW_MS = 30_000

const ok = (detail: string): Finding => ({ outcome: 'ok', detail, exitCode: exitCodes.done })
const warning = (detail: string): Finding => ({ ...ok(detail), outcome: 'warning' })
const failed = (detail: string, exitCode: ExitCode): Finding => {
  return { outcome: 'failed', detail, exitCode }
}

/** Looks at everything that a command needs, one after the other; what hangs on something broken is left out. */
export async function* examine(session: Session): AsyncGenerator<Check> {
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
  yield { check: 'network', ...(await network().catch(toFinding)) }
  if (!io.interrupted.aborted) yield { check: 'stream', ...(await examineStream(session)) }
}

type Ready = { ready?: Finding; clock: Finding; reachable: Finding }

/** Needs no key: what is wrong with the address is told before the key goes there. */
async function askReady(host: string): Promise<Ready> {
  const begun = Date.now()
  const none = { clock: ok('') }
  try {
    const response = await fetch(`${host}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    const text = await response.text()
    const took = Date.now() - begun
    const state = parseReady(text)
    if (!state) {
      const what = `HTTP ${response.status}, and not this service`
      return { ...none, reachable: failed(what, exitCodes.unreachable) }
    }
    const clock = judgeClock(response.headers.get('date'), begun, took)
    return { reachable: ok(`answers within ${took} ms`), ready: judgeReady(state), clock }
  } catch {
    const what = `${host} does not answer. Is it running, and is the address right?`
    return { ...none, reachable: failed(what, exitCodes.unreachable) }
  }
}

type State = Record<'ready' | 'postgres' | 'signer' | 'temporal' | 'degraded', boolean>

function parseReady(text: string): State | undefined {
  try {
    const state = JSON.parse(text) as State | null
    return typeof state?.ready === 'boolean' ? state : undefined
  } catch {
    return undefined
  }
}

function judgeReady({ ready, postgres, signer, temporal }: State): Finding {
  const parts = Object.entries({ postgres, signer, temporal })
  const missing = parts.filter(([, isThere]) => !isThere).map(([name]) => name)
  if (!ready) return failed(`not ready: ${missing.join(', ')}`, exitCodes.unreachable)
  if (missing.length === 0) return ok('database, signer and Temporal are there')
  return warning(`takes intents, which begin later: ${missing.join(', ')} is away`)
}

function judgeClock(date: string | null, begun: number, took: number): Finding {
  const theirs = date === null ? NaN : Date.parse(date)
  if (Number.isNaN(theirs)) return warning('the service does not tell its time')
  const skew = Math.abs(theirs - (begun + took / 2))
  if (skew <= SKEW_MS) return ok('agrees with that of the service')
  return warning(
    `${Math.round(skew / 1000)} s beside that of the service: signatures of webhooks may be refused`,
  )
}

async function examineKey({ steward }: Session): Promise<Finding> {
  try {
    const { plan, balance } = await steward.credits.get({ timeoutMs: PATIENCE_MS })
    const text = `valid, plan ${plan}, ${balance} credits left`
    return balance > 0 ? ok(text) : warning(text)
  } catch (error) {
    if (error instanceof UnauthorizedError) {
      return failed('is not valid here. Log in again: steward login', exitCodes.refused)
    }
    return toFinding(error)
  }
}

/** A dry run of a wallet that does not exist: whoever may not write is told that first. */
async function examineScope({ steward }: Session): Promise<Finding> {
  try {
    await steward.intents.preview({ action: 'lend', walletId: 'svc_wallet_none', amount: '1' })
  } catch (error) {
    if (error instanceof ForbiddenError) return warning('may read only: it can create nothing')
    if (!(error instanceof StewardError) || (error.status ?? 500) >= 500) return toFinding(error)
  }
  return ok('may read and write')
}

/** Opens one, as the other commands do. Nothing need happen meanwhile. */
async function examineStream({ access, io }: Session): Promise<Finding> {
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
    if (!signal.aborted) return toFinding(error)
  }
  if (opened.signal.aborted) return ok('opens: events come as they happen')
  return failed('does not open', exitCodes.unreachable)
}

function toFinding(error: unknown): Finding {
  if (error instanceof ConnectionError)
    return failed('the connection was lost', exitCodes.unreachable)
  if (!(error instanceof StewardError)) throw error
  const { code, message, status = 500, requestId } = error
  const text = `${code}: ${message}${requestId ? ` (request ${requestId})` : ''}`
  return failed(text, status < 500 ? exitCodes.refused : exitCodes.unreachable)
}
