/** The most endpoints of an account. */
export const MAX_WEBHOOKS = 20

/** A delivery is attempted for this long. Then it has failed and its endpoint is disabled. */
export const GIVE_UP_MS = 72 * 3_600_000

/** Time limit of one attempt, from the DNS lookup to the response headers. */
export const ANSWER_MS = 5_000

const FIRST_RETRY_MS = 5_000
const LONGEST_RETRY_MS = 8 * 3_600_000
const GROWTH = 3

/** Milliseconds between an attempt, counted from 1, and the next: 5 s, 15 s, 45 s, … 8 hours. */
export const retryDelayMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_MS * GROWTH ** (attempt - 1), LONGEST_RETRY_MS)

/** Why an attempt failed. Other facts about the endpoint's network stay private. */
export const attemptErrors = {
  timed_out: 'The endpoint did not respond in time.',
  not_resolved: 'The name of the endpoint could not be resolved.',
  address_refused: 'The name of the endpoint resolves to an address that receives no events.',
  connection_failed: 'The endpoint could not be reached, or the connection broke.',
  tls_failed: 'The certificate of the endpoint is not valid.',
  status_refused: 'The endpoint responded with a status other than 2xx.',
  endpoint_disabled: 'The endpoint was disabled or deleted.',
} as const
export type AttemptFailure = keyof typeof attemptErrors

/** Why an endpoint is disabled. */
export const disabledReasons = {
  by_account: 'A member of the account disabled it.',
  gone: 'It responded with 410 Gone.',
  failing: 'It has accepted no delivery for three days.',
} as const
export type EndpointDisabledReason = keyof typeof disabledReasons

/** One delivery attempt. `body`: the first 1 kB of the response. */
export type Attempt = {
  at: string
  ms: number
  status?: number
  error?: AttemptFailure
  body?: string
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** The public id of a delivery. */
export const toDeliveryId = (id: bigint): string => `whd_${id}`

/** @returns Undefined when the text is not the id of a delivery. */
export function fromDeliveryId(text: string): bigint | undefined {
  const [, digits] = /^whd_([1-9]\d{0,17})$/.exec(text) ?? []
  return digits === undefined ? undefined : BigInt(digits)
}
