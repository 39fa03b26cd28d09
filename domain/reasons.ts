/** `retryAfter`: seconds after which the call may succeed. */
type ReasonFacts = {
  code: 'INVALID_REQUEST' | 'INSUFFICIENT_FUNDS' | 'UNAVAILABLE'
  meaning: string
  hint: string
  retryAfter?: number
}

/** Every value of `details.reason` in API errors: its code, meaning, and the next action. */
export const reasonCatalog = {
  user_id_taken: {
    code: 'INVALID_REQUEST',
    meaning: 'The userId already has a wallet, which was created with other metadata.',
    hint: 'Send the same metadata to get that wallet, or use another userId.',
  },
  idempotency_key_reused: {
    code: 'INVALID_REQUEST',
    meaning: 'The `Idempotency-Key` was sent before with another body or query.',
    hint: 'Use a new key for each new request. Send the same key with the same request only.',
  },
  preview_unknown: {
    code: 'INVALID_REQUEST',
    meaning: 'The account has no preview with this id, or it is older than five minutes.',
    hint: 'Preview the intent again, and create it with the id of that preview.',
  },
  preview_differs: {
    code: 'INVALID_REQUEST',
    meaning: 'The request differs from its preview. Nothing was done.',
    hint: 'Preview the intent again, and create it exactly as previewed.',
  },
  event_gone: {
    code: 'INVALID_REQUEST',
    meaning:
      'The event to resume after has been deleted or never belonged to this account. Later events may be deleted too.',
    hint: 'Read the current state of your resources, then continue without `after` and `Last-Event-ID`.',
  },
  already_signed: {
    code: 'INVALID_REQUEST',
    meaning:
      'A step of the intent is signed and unfinished, or its money is in the bridge, so it cannot be cancelled.',
    hint: 'Poll the intent until it is `completed` or `failed`.',
  },
  already_over: {
    code: 'INVALID_REQUEST',
    meaning: 'The intent is already `completed` or `failed`, so there is nothing to cancel.',
    hint: 'Read the intent for its result.',
  },
  not_failed: {
    code: 'INVALID_REQUEST',
    meaning: 'Only a `failed` intent can be retried, and this one has not failed.',
    hint: 'Poll the intent until it is `completed` or `failed`.',
  },
  not_final: {
    code: 'INVALID_REQUEST',
    meaning: 'A reorganisation of the chain could still reverse the failure of the intent.',
    hint: 'Retry it again after `details.retryAfter` seconds.',
    // Before the failure is confirmed. Afterwards the answer has the remaining time.
    retryAfter: 30,
  },
  funds_in_bridge: {
    code: 'INVALID_REQUEST',
    meaning: 'The money of the failed intent is still in the bridge.',
    hint: 'It arrives without further action. Retry the intent when it has `error.recovery`.',
  },
  nothing_left: {
    code: 'INVALID_REQUEST',
    meaning: 'The failed intent has no work left: its money is where it should be.',
    hint: 'Create a new intent for anything else.',
  },
  no_route: {
    code: 'INVALID_REQUEST',
    meaning: 'There is no bridge between the two chains.',
    hint: 'Choose other chains.',
  },
  above_maximum: {
    code: 'INVALID_REQUEST',
    meaning: 'The amount exceeds the maximum of one bridge transfer.',
    hint: 'Request at most the amount in `message`, or split the amount.',
  },
  above_fee_limit: {
    code: 'INVALID_REQUEST',
    meaning: 'The fee of the bridge is higher than this deployment pays.',
    hint: 'Send the request again later.',
  },
  below_fee: {
    code: 'INVALID_REQUEST',
    meaning: 'The fee of the bridge exceeds the amount.',
    hint: 'Request a larger amount.',
  },
  below_minimum: {
    code: 'INVALID_REQUEST',
    meaning:
      'The amount is too small for the gas that the service pays. `details.smallest` is the smallest amount.',
    hint: 'Request at least `details.smallest`. A withdrawal of `max` has no minimum.',
  },
  no_swap: {
    code: 'INVALID_REQUEST',
    meaning: 'The asset that the failed withdrawal received cannot be swapped now.',
    hint: 'Retry the intent later. The money is in the wallet.',
  },
  market_busy: {
    code: 'INVALID_REQUEST',
    meaning: 'Another intent of the wallet is withdrawing from the same market.',
    hint: 'Send the request again when that intent has ended, or request less.',
  },
  webhook_url_refused: {
    code: 'INVALID_REQUEST',
    meaning: 'The `url` of a webhook endpoint leads to an address that receives no events.',
    hint: 'Send an https URL on port 443 whose name resolves to a public address.',
  },
  too_many_webhooks: {
    code: 'INVALID_REQUEST',
    meaning: 'The account has the maximum number of webhook endpoints.',
    hint: 'Delete an endpoint that is no longer needed, or change one.',
  },
  webhook_disabled: {
    code: 'INVALID_REQUEST',
    meaning: 'The webhook endpoint is disabled and receives no events.',
    hint: 'Enable it first: `POST /v1/webhooks/:webhookId` with `{"status":"enabled"}`.',
  },
  no_liquidity: {
    code: 'INSUFFICIENT_FUNDS',
    meaning:
      'The position is large enough, but its markets do not have enough cash for the withdrawal now.',
    hint: 'Request at most `details.available`, or try again later.',
  },
  capability_disabled: {
    code: 'UNAVAILABLE',
    meaning:
      'A part of the deployment that the call needs is disabled: it does not match the chain, or the operator of this service has paused the chain. `message` names the part and the cause.',
    hint: 'Send the request again later, or choose an option that does not need this part. `GET /v1/yields` lists the affected markets.',
  },
  outcome_unknown: {
    code: 'UNAVAILABLE',
    meaning:
      'The service did not answer in time or lost its database while the request was being committed. The request may have been executed and charged.',
    hint: 'Send the request again with the same `Idempotency-Key`. Without a key, read the current state first, such as the list of intents.',
  },
} as const satisfies Record<string, ReasonFacts>

export type Reason = keyof typeof reasonCatalog
type ReasonsOf<Code> = {
  [Name in Reason]: (typeof reasonCatalog)[Name]['code'] extends Code ? Name : never
}[Reason]
export type InvalidRequestReason = ReasonsOf<'INVALID_REQUEST'>
export type InsufficientFundsReason = ReasonsOf<'INSUFFICIENT_FUNDS'>
export type UnavailableReason = ReasonsOf<'UNAVAILABLE'>

/** The reasons of an error code. Most codes have none. */
export const reasonsOf = (code: string): Reason[] =>
  (Object.keys(reasonCatalog) as Reason[]).filter((name) => reasonCatalog[name].code === code)

/** Seconds after which a call that was rejected for this reason may succeed, where known. */
export function retryAfterOf(reason: Reason): number | undefined {
  const facts: ReasonFacts = reasonCatalog[reason]
  return facts.retryAfter
}
