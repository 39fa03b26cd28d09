import { searchAttributeNames as names } from './searchAttributes.js'

/** Common searches of operators in the Temporal UI, as list queries. */
export const viewQueries = {
  'late bridges': `ExecutionStatus = 'Running' AND ${names.waitingFor} = 'ATTESTATION'`,
  'waiting for gas': `ExecutionStatus = 'Running' AND ${names.waitingFor} IN ('SENDER_GAS', 'GAS_PRICE')`,
  'held up': `ExecutionStatus = 'Running' AND ${names.waitingFor} IS NOT NULL`,
  'failed deposits': `${names.intentFailure} = 'DEPOSIT_FAILED'`,
  failed: `${names.intentStatus} = 'failed'`,
  cancelled: `${names.intentStatus} = 'cancelled'`,
} as const

/**
 * URL of the Temporal UI page that lists the results of a query.
 *
 * @param uiUrl - URL of the UI, without a trailing slash.
 */
export function viewUrl(uiUrl: string, namespace: string, query: string): string {
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows?query=${encodeURIComponent(query)}`
}
