import { REQUEST_TIMEOUT_MS, RETRY_MS } from '../../durations.js'

/** How long an endpoint is waited for, ms. */
export type RpcWaits = {
  /** An answer that takes longer counts as none. */
  timeoutMs: number
  /** An answer that takes longer is asked of another endpoint too: after three of these one that hangs counts as away. */
  patienceMs: number
  /** Until one that is away is probed for the first time. */
  probeMs: number
}

export const usualWaits: RpcWaits = {
  ...{ timeoutMs: REQUEST_TIMEOUT_MS, patienceMs: 1_000, probeMs: RETRY_MS },
}
