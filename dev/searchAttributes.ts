import { Explained } from './terminal.js'

/** Attributes by which an operator finds an intent in the Temporal UI. All are keywords. */
export const searchAttributes = [
  'AccountId',
  'WalletId',
  'IntentAction',
  'SourceChain',
  'TargetChain',
  'IntentFailure',
]

/** The server asks its visibility store at its leisure; a connection that is refused fails at once. */
const registerTimeoutMs = 5_000

/**
 * Adds the attributes to a server that was given from outside; those that are there stay. Without them it
 * refuses every workflow.
 *
 * @throws {Explained} when the server does not answer.
 */
export async function registerSearchAttributes(address: string, namespace: string): Promise<void> {
  // Costs a third of a second to load, and an embedded server gets the attributes by its arguments.
  const { Connection } = await import('@temporalio/client')
  const { temporal } = await import('@temporalio/proto')
  const keyword = temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
  try {
    const connection = await Connection.connect({ address, connectTimeout: registerTimeoutMs })
    const known = await connection.operatorService.listSearchAttributes({ namespace })
    const missing = searchAttributes.filter((name) => !(name in known.customAttributes))
    if (missing.length > 0) {
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])),
      })
    }
    await connection.close()
  } catch (cause) {
    const reason = (cause as Error).message
    throw new Explained(`TEMPORAL_ADDRESS (${address}) cannot be used: ${reason}`, { cause })
  }
}
