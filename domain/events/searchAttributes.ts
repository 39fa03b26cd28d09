/**
 * Search attributes by which operators find intents in the Temporal UI. A server with SQL visibility has ten slots of
 * the type `Keyword` and three of each other type. With `WaitingFor` as a list, all ten are used.
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

/** The type of each search attribute, in Temporal's terms. */
export const searchAttributeKinds: Record<string, 'Keyword' | 'KeywordList'> = Object.fromEntries(
  Object.values(searchAttributeNames).map((name) => [
    name,
    name === searchAttributeNames.waitingFor ? 'KeywordList' : 'Keyword',
  ]),
)
