/** Reasons of Circle's attestation service. @see https://developers.circle.com/api-reference/cctp/all/get-messages-v2 */
const reasons = new Map([
  ['insufficient_fee', 'the fee was too low for a fast one'],
  ['amount_above_max', 'the amount exceeds the limit of fast ones'],
  ['insufficient_allowance_available', 'the bridge has no allowance left for fast ones'],
])

/** Why a fast transfer became a standard one, as a sentence. `reason`: in the words of the attestation service. */
export const slowTransferMessage = (reason: string): string =>
  `It became a standard transfer: ${reasons.get(reason) ?? 'the bridge reports no known reason'}.`
