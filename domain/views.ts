import { searchAttributeNames as names } from './searchAttributes.js'

/** What operators look for in the Temporal UI, as queries of its lists. */
export const viewQueries = {
  'late bridges': `ExecutionStatus = 'Running' AND ${names.waitingFor} = 'ATTESTATION'`,
  'waiting for gas': `ExecutionStatus = 'Running' AND ${names.waitingFor} IN ('LANE_GAS', 'GAS_PRICE')`,
  'held up': `ExecutionStatus = 'Running' AND ${names.waitingFor} IS NOT NULL`,
  'failed deposits': `${names.intentFailure} = 'DEPOSIT_FAILED'`,
  failed: `${names.intentStatus} = 'failed'`,
  cancelled: `${names.intentStatus} = 'cancelled'`,
} as const

/**
 * The page of the Temporal UI that lists what a query finds.
 *
 * @param uiUrl - Of the UI, without a slash at the end.
 */
export function viewUrl(uiUrl: string, query: string, namespace = 'default'): string {
  return `${uiUrl}/namespaces/${namespace}/workflows?query=${encodeURIComponent(query)}`
}
