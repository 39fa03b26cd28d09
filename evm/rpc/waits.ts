import { MINUTE_MS, REQUEST_TIMEOUT_MS, RETRY_MS } from '../../runtime/durations.js'

/** Timeouts of an endpoint, ms. */
export type RpcWaits = {
  /** A slower answer counts as missing. */
  timeoutMs: number
  /** After this time another endpoint is asked too. An endpoint that is late three times counts as unavailable. */
  patienceMs: number
  /** Time until an unavailable endpoint is probed for the first time. */
  probeMs: number
  /** Interval of the single probes of an endpoint that throttles requests for longer. */
  throttledProbeMs: number
}

export const usualWaits: RpcWaits = {
  ...{ timeoutMs: REQUEST_TIMEOUT_MS, patienceMs: 1_000, probeMs: RETRY_MS },
  throttledProbeMs: MINUTE_MS,
}
