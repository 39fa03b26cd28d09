/** Endpoints that an account may have. */
export const MAX_WEBHOOKS = 20

/** How long a delivery is tried before its endpoint counts as gone. */
export const GIVE_UP_MS = 72 * 3_600_000

/** How long an endpoint may take to answer, from the look-up of its name to the head of its answer. */
export const ANSWER_MS = 5_000

const FIRST_RETRY_MS = 5_000
const LONGEST_RETRY_MS = 8 * 3_600_000
const GROWTH = 3

/** Milliseconds between a delivery's try, counted from 1, and its next one: 5 s, 15 s, 45 s, … 8 hours. */
export const retryDelayMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_MS * GROWTH ** (attempt - 1), LONGEST_RETRY_MS)

/** Why a try has brought no answer that counts. What else is known of the endpoint's network stays inside. */
export const attemptErrors = {
  timed_out: 'The endpoint did not answer in time.',
  not_resolved: 'The name of the endpoint could not be resolved.',
  address_refused: 'The name of the endpoint leads to an address that nothing is sent to.',
  connection_failed: 'The endpoint could not be reached, or the connection broke.',
  tls_failed: 'The certificate of the endpoint is not valid.',
  status_refused: 'The endpoint answered with a status other than 2xx.',
  endpoint_disabled: 'The endpoint was disabled or deleted.',
} as const
export type AttemptError = keyof typeof attemptErrors

/** Why nothing is sent to an endpoint. */
export const disabledReasons = {
  by_account: 'Somebody of the account has disabled it.',
  gone: 'It has answered 410 Gone.',
  failing: 'It has accepted nothing for three days.',
} as const
export type DisabledReason = keyof typeof disabledReasons

/** One try to deliver. `body`: the first 1 kB of the answer. */
export type Attempt = {
  at: string
  ms: number
  status?: number
  error?: AttemptError
  body?: string
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** The id by which callers know a delivery. */
export const toDeliveryId = (id: bigint): string => `whd_${id}`

/** @returns undefined for what is no id of a delivery. */
export function fromDeliveryId(text: string): bigint | undefined {
  const [, digits] = /^whd_([1-9]\d{0,17})$/.exec(text) ?? []
  return digits === undefined ? undefined : BigInt(digits)
}
