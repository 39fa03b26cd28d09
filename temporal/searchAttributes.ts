import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common'
import type { Client } from '@temporalio/client'

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)

/** By what an operator finds an intent in the Temporal UI. */
export const searchAttributes = {
  accountId: keyword('AccountId'),
  walletId: keyword('WalletId'),
  intentAction: keyword('IntentAction'),
  targetChain: keyword('TargetChain'),
}

/** `INDEXED_VALUE_TYPE_KEYWORD` of the server's API. */
const KEYWORD = 2

/** Makes the search attributes known to a server that does not have them yet. */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options
  const operator = client.connection.operatorService
  const { customAttributes } = await operator.listSearchAttributes({ namespace })
  const names = Object.values(searchAttributes).map(({ name }) => name)
  const missing = names.filter((name) => !(name in (customAttributes ?? {})))
  if (missing.length === 0) return
  await operator.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
  })
}
