/** Facts of one attempt of a call. They contain neither the key nor a body. */
export type RequestFacts = { method: 'GET' | 'POST'; path: string; attempt: number }
export type ResponseFacts = RequestFacts & {
  status: number
  ms: number
  requestId: string | undefined
}
/** `error`: why the attempt failed. The next attempt follows after `waitMs`. */
export type RetryFacts = RequestFacts & { error: Error; waitMs: number }

/** Callbacks for logs and metrics. Their exceptions are ignored. */
export type Hooks = {
  onRequest?: ((facts: RequestFacts) => void) | undefined
  onResponse?: ((facts: ResponseFacts) => void) | undefined
  onRetry?: ((facts: RetryFacts) => void) | undefined
}

/** The used part of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type StewardOptions = {
  /** `svc_sk_…`, or in browsers a read token `svc_rt_…`. Default: STEWARD_API_KEY of the environment. */
  apiKey?: string | undefined
  /** URL of the service, with or without `/v1`. Default: STEWARD_BASE_URL of the environment. */
  baseUrl?: string | undefined
  /** Timeout of each attempt in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined
  /** Attempts after the first one. Default: 2. */
  maxRetries?: number | undefined
  /** Milliseconds without data after which a stream is reopened. Default: 45,000. */
  idleMs?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: Fetch | undefined
  hooks?: Hooks | undefined
}

export type Settings = {
  apiKey: string
  /** Without `/v1` and without a trailing slash. */
  origin: string
  isBrowser: boolean
  timeoutMs: number
  maxRetries: number
  idleMs: number
  fetch: Fetch
  hooks: Hooks
}

/** Prefix of a token that may read one intent. */
export const READ_TOKEN = 'svc_rt_'

const TIMEOUT_MS = 60_000
/** Three heartbeats of a stream: the service sends one every 15 s. */
const IDLE_MS = 45_000
const MAX_RETRIES = 2

type Runtime = {
  process?: { env?: Record<string, string | undefined> }
  window?: { document?: unknown }
}
const runtime = globalThis as Runtime

/** @throws {TypeError} without a key or base URL, or with an API key in a browser. */
export function toSettings(options: StewardOptions): Settings {
  const { timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES, idleMs = IDLE_MS, hooks = {} } = options
  const apiKey = options.apiKey ?? readEnvironment('STEWARD_API_KEY')
  if (!apiKey) throw new TypeError('Pass an apiKey, or set STEWARD_API_KEY.')
  const baseUrl = options.baseUrl ?? readEnvironment('STEWARD_BASE_URL')
  if (!baseUrl) throw new TypeError('Pass a baseUrl, or set STEWARD_BASE_URL.')
  const isBrowser = runtime.window?.document !== undefined
  if (isBrowser) assertHarmless(apiKey)
  return {
    apiKey,
    origin: toOrigin(baseUrl),
    isBrowser,
    timeoutMs,
    maxRetries,
    idleMs,
    hooks,
    // Browsers reject `fetch` as a method of another object.
    fetch: options.fetch ?? ((...call) => fetch(...call)),
  }
}

function assertHarmless(apiKey: string): void {
  if (apiKey.startsWith(READ_TOKEN)) return
  const instead = 'Use a read token from intents.createReadToken on your server.'
  throw new TypeError(`An API key in a browser is visible to its user. ${instead}`)
}

/** The base URL before `/v1`. It may contain a path. */
const toOrigin = (baseUrl: string) => new URL(baseUrl).href.replace(/\/+$/, '').replace(/\/v1$/, '')

/** Undefined also when the runtime forbids reading the environment. */
function readEnvironment(name: string): string | undefined {
  try {
    return runtime.process?.env?.[name]
  } catch {
    return undefined
  }
}
