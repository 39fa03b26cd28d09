/** What the reader of a reason should know. `retryAfter`: seconds after which the call may succeed. */
type ReasonFacts = {
  code: 'INVALID_REQUEST' | 'INSUFFICIENT_FUNDS' | 'UNAVAILABLE'
  meaning: string
  hint: string
  retryAfter?: number
}

/** Every value of `details.reason` that the API answers with: its code, what happened, and what to do. */
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
    meaning: 'What is to be done is not what the preview has shown. Nothing was done.',
    hint: 'Preview the intent again, and create it as it was previewed.',
  },
  event_gone: {
    code: 'INVALID_REQUEST',
    meaning:
      'The event after which to go on is kept no longer, or never was one of this account. Events after it may be gone too.',
    hint: 'Read the resources as they are now, then go on without `after` and `Last-Event-ID`.',
  },
  already_signed: {
    code: 'INVALID_REQUEST',
    meaning: 'A transaction of the intent is already signed, so it can no longer be cancelled.',
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
    meaning: 'A reorganisation of the chain could still undo the failure of the intent.',
    hint: 'Retry it again after `details.retryAfter` seconds.',
    // Finality takes seconds on one chain and minutes on another.
    retryAfter: 30,
  },
  funds_in_bridge: {
    code: 'INVALID_REQUEST',
    meaning: 'The money of the failed intent is still in the bridge.',
    hint: 'It arrives by itself. Retry the intent when it has `error.recovery`.',
  },
  nothing_left: {
    code: 'INVALID_REQUEST',
    meaning: 'The failed intent has nothing left to do: its money is where it should be.',
    hint: 'Create a new intent for anything else.',
  },
  no_route: {
    code: 'INVALID_REQUEST',
    meaning: 'There is no bridge between the two chains.',
    hint: 'Choose other chains.',
  },
  above_maximum: {
    code: 'INVALID_REQUEST',
    meaning: 'The amount is more than the bridge moves at once.',
    hint: 'Ask for at most what `message` names, or split the amount.',
  },
  above_fee_limit: {
    code: 'INVALID_REQUEST',
    meaning: 'The bridge asks for a higher fee than this deployment pays.',
    hint: 'Send the request again later.',
  },
  below_fee: {
    code: 'INVALID_REQUEST',
    meaning: 'The fee of the bridge would take the whole amount.',
    hint: 'Ask for more.',
  },
  no_swap: {
    code: 'INVALID_REQUEST',
    meaning: 'What the failed withdrawal took out cannot be swapped now.',
    hint: 'Retry the intent later. The money is in the wallet.',
  },
  market_busy: {
    code: 'INVALID_REQUEST',
    meaning: 'Another intent of the wallet is taking money out of the same market.',
    hint: 'Send the request again when that intent is over, or ask for less.',
  },
  webhook_url_refused: {
    code: 'INVALID_REQUEST',
    meaning: 'The `url` of a webhook endpoint leads to nothing that events are sent to.',
    hint: 'Send an https URL on port 443 whose name resolves to a public address.',
  },
  too_many_webhooks: {
    code: 'INVALID_REQUEST',
    meaning: 'The account has as many webhook endpoints as it may have.',
    hint: 'Delete one that is not needed any more, or change one.',
  },
  webhook_disabled: {
    code: 'INVALID_REQUEST',
    meaning: 'The webhook endpoint is disabled, so that nothing is sent to it.',
    hint: 'Enable it first: `POST /v1/webhooks/:webhookId` with `{"status":"enabled"}`.',
  },
  no_liquidity: {
    code: 'INSUFFICIENT_FUNDS',
    meaning: 'The money is there, but its markets cannot pay out so much now.',
    hint: 'Ask for at most `details.available`, or try again later.',
  },
  capability_disabled: {
    code: 'UNAVAILABLE',
    meaning:
      'A part of the deployment that the call needs is not used: it does not fit what is on the chain, or the operator of this service has paused the chain. `message` says which part, and why.',
    hint: 'Send the request again later, or ask for something that does not need it. `GET /v1/yields` names the markets that are concerned.',
  },
} as const satisfies Record<string, ReasonFacts>

export type Reason = keyof typeof reasonCatalog
type ReasonsOf<Code> = {
  [Name in Reason]: (typeof reasonCatalog)[Name]['code'] extends Code ? Name : never
}[Reason]
export type InvalidRequestReason = ReasonsOf<'INVALID_REQUEST'>
export type InsufficientFundsReason = ReasonsOf<'INSUFFICIENT_FUNDS'>
export type UnavailableReason = ReasonsOf<'UNAVAILABLE'>

/** The reasons that a code is answered with; none for most codes. */
export const reasonsOf = (code: string): Reason[] =>
  (Object.keys(reasonCatalog) as Reason[]).filter((name) => reasonCatalog[name].code === code)

/** Seconds after which a call that was refused for this reason may succeed, where they are known. */
export function retryAfterOf(reason: Reason): number | undefined {
  const facts: ReasonFacts = reasonCatalog[reason]
  return facts.retryAfter
}
