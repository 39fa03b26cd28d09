import {
  SearchAttributeType,
  defineSearchAttributeKey,
  type SearchAttributePair,
} from '@temporalio/common'
import type { Client } from '@temporalio/client'
import {
  searchAttributeKinds as kinds,
  searchAttributeNames as names,
} from '../domain/searchAttributes.js'
import { BUILD_ID } from './build.js'

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)

/** Those that are known when a workflow starts. What becomes of it the workflow writes itself. */
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

/**
 * Which build works on a workflow, as a server itself lists it once the first task is done. Where it is listed so from
 * the start nothing is changed then: of three times that a workflow is written into the server's lists one is spared.
 *
 * @see https://github.com/temporalio/temporal/blob/v1.31.2/service/history/workflow/mutable_state_impl.go
 */
export const builtBy: SearchAttributePair = {
  key: defineSearchAttributeKey('BuildIds', SearchAttributeType.KEYWORD_LIST),
  value: ['unversioned', `unversioned:${BUILD_ID}`],
}

/** `INDEXED_VALUE_TYPE_KEYWORD` and `…_KEYWORD_LIST` of the server's API. */
const apiTypes = { Keyword: 2, KeywordList: 7 }

/** The type of each by its name, as the server's API takes it. */
export const searchAttributeTypes = Object.fromEntries(
  Object.entries(kinds).map(([name, kind]) => [name, apiTypes[kind]]),
)

/** Makes the search attributes known to a server that does not have them yet. */
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
