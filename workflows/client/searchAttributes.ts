import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common'
import type { Client } from '@temporalio/client'
import {
  searchAttributeKinds as kinds,
  searchAttributeNames as names,
} from '../../domain/events/searchAttributes.js'

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)

/** Search attributes that are set when a workflow starts. The workflow sets the others itself. */
export const searchAttributes = {
  accountId: keyword(names.accountId),
  walletId: keyword(names.walletId),
  userId: keyword(names.userId),
  requestId: keyword(names.requestId),
  retryOf: keyword(names.retryOf),
  intentAction: keyword(names.intentAction),
  sourceChain: keyword(names.sourceChain),
  targetChain: keyword(names.targetChain),
}

/** `INDEXED_VALUE_TYPE_KEYWORD` and `…_KEYWORD_LIST` of the server's API. */
const apiTypes = { Keyword: 2, KeywordList: 7 }

/** Types of the search attributes by name, in the encoding of the server's API. */
export const searchAttributeTypes = Object.fromEntries(
  Object.entries(kinds).map(([name, kind]) => [name, apiTypes[kind]]),
)

/** Registers the search attributes that the server does not have yet. */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options
  const operator = client.connection.operatorService
  const { customAttributes } = await operator.listSearchAttributes({ namespace })
  const missing = Object.entries(searchAttributeTypes).filter(
    ([name]) => !(name in (customAttributes ?? {})),
  )
  if (missing.length === 0) return
  await operator.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) })
}
