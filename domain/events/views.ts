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

/** The page of a namespace in the Temporal UI. */
export const namespaceUrl = (uiUrl: string, namespace: string): string =>
  `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}`

/** The page of the Temporal UI that lists the results of a query. */
export function viewUrl(uiUrl: string, namespace: string, query: string): string {
  return `${namespaceUrl(uiUrl, namespace)}/workflows?query=${encodeURIComponent(query)}`
}
