/** What becomes of a try. Neither the key nor a body is told. */
export type RequestFacts = { method: 'GET' | 'POST'; path: string; attempt: number }
export type ResponseFacts = RequestFacts & {
  status: number
  ms: number
  requestId: string | undefined
}
/** `error`: why the try failed. The next one follows after `waitMs`. */
export type RetryFacts = RequestFacts & { error: Error; waitMs: number }

/** For logs and metrics. What they throw is ignored. */
export type Hooks = {
  onRequest?: ((facts: RequestFacts) => void) | undefined
  onResponse?: ((facts: ResponseFacts) => void) | undefined
  onRetry?: ((facts: RetryFacts) => void) | undefined
}

/** What of the global `fetch` is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type StewardOptions = {
  /** `svc_sk_…`, or in browsers a read token `svc_rt_…`. Else STEWARD_API_KEY of the environment. */
  apiKey?: string | undefined
  /** Where the service is, with or without `/v1`. Else STEWARD_BASE_URL of the environment. */
  baseUrl?: string | undefined
  /** For each try; 60,000 when absent. */
  timeoutMs?: number | undefined
  /** Tries after the first one; 2 when absent. */
  maxRetries?: number | undefined
  /** For how long a stream may be silent before it is opened again; 45,000 when absent. */
  idleMs?: number | undefined
  /** Instead of the global one. */
  fetch?: Fetch | undefined
  hooks?: Hooks | undefined
}

export type Settings = {
  apiKey: string
  /** Without `/v1` and without a slash at its end. */
  origin: string
  isBrowser: boolean
  timeoutMs: number
  maxRetries: number
  idleMs: number
  fetch: Fetch
  hooks: Hooks
}

/** How a token begins that opens one intent to read. */
export const READ_TOKEN = 'svc_rt_'

const TIMEOUT_MS = 60_000
/** Three of the signs of life that the service sends on a stream. */
const IDLE_MS = 45_000
const MAX_RETRIES = 2

type Surroundings = {
  process?: { env?: Record<string, string | undefined> }
  window?: { document?: unknown }
}
const surroundings = globalThis as Surroundings

/** @throws {TypeError} when key or address are missing, or a key that may write would be shown to a browser. */
export function toSettings(options: StewardOptions): Settings {
  const { timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES, idleMs = IDLE_MS, hooks = {} } = options
  const apiKey = options.apiKey ?? readEnvironment('STEWARD_API_KEY')
  if (!apiKey) throw new TypeError('Pass an apiKey, or set STEWARD_API_KEY.')
  const baseUrl = options.baseUrl ?? readEnvironment('STEWARD_BASE_URL')
  if (!baseUrl) throw new TypeError('Pass a baseUrl, or set STEWARD_BASE_URL.')
  const isBrowser = surroundings.window?.document !== undefined
  if (isBrowser) assertHarmless(apiKey)
  return {
    apiKey,
    origin: toOrigin(baseUrl),
    isBrowser,
    timeoutMs,
    maxRetries,
    idleMs,
    hooks,
    // Called as a function of its own: browsers refuse `fetch` as a method of something else.
    fetch: options.fetch ?? ((...call) => fetch(...call)),
  }
}

function assertHarmless(apiKey: string): void {
  if (apiKey.startsWith(READ_TOKEN)) return
  const instead = 'Use a read token: intents.createReadToken on your server.'
  throw new TypeError(
    `An API key must not be used in a browser, where anybody reads it. ${instead}`,
  )
}

/** What stands before `/v1`, which may have a path of its own. */
const toOrigin = (baseUrl: string) => new URL(baseUrl).href.replace(/\/+$/, '').replace(/\/v1$/, '')

/** Undefined too where a program may not read its environment. */
function readEnvironment(name: string): string | undefined {
  try {
    return surroundings.process?.env?.[name]
  } catch {
    return undefined
  }
}
