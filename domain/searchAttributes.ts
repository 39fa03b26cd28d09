/**
 * By what an operator finds intents in the Temporal UI. A server that keeps its lists in SQL has room for ten of
 * the kind `Keyword` and for three of each other kind: with `WaitingFor` as a list all ten are taken.
 *
 * @see https://docs.temporal.io/search-attribute
 */
export const searchAttributeNames = {
  accountId: 'AccountId',
  walletId: 'WalletId',
  userId: 'UserId',
  requestId: 'RequestId',
  retryOf: 'RetryOf',
  intentAction: 'IntentAction',
  sourceChain: 'SourceChain',
  targetChain: 'TargetChain',
  intentStatus: 'IntentStatus',
  intentFailure: 'IntentFailure',
  waitingFor: 'WaitingFor',
} as const

/** The kind of each by its name, as Temporal's documents call it. */
export const searchAttributeKinds: Record<string, 'Keyword' | 'KeywordList'> = Object.fromEntries(
  Object.values(searchAttributeNames).map((name) => [
    name,
    name === searchAttributeNames.waitingFor ? 'KeywordList' : 'Keyword',
  ]),
)
