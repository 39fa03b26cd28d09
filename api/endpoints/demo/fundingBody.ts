import { aliasOf, transactionUrl, type Registry } from '../../../evm/registry.js'
import { demoFunding, fundingProgress } from '../../../domain/intent/funding.js'
import { assetText } from '../../../domain/money.js'
import type { StoredFunding } from '../../../db/intents/fundings.js'
import type { StepOperation } from '../../../domain/intent/stepOperation.js'

/** The funding resource. `operation`: its payment, undefined before it is created. */
export function fundingBody(
  { chains }: Registry,
  { id, walletId, createdAt }: StoredFunding,
  operation?: StepOperation,
) {
  const { chain, asset, units } = demoFunding
  const place = chains.find(({ name }) => name === chain)
  const { txHash, waitingFor, ...end } = fundingProgress(operation)
  const url = txHash && place && transactionUrl(place, txHash)
  return {
    ...{ id, walletId, status: end.status, chain, alias: aliasOf(chain), asset },
    amount: Number(assetText(units)),
    ...(waitingFor ? { waitingFor } : {}),
    ...(txHash ? { txHash } : {}),
    ...(url ? { explorerUrl: url } : {}),
    ...(end.message ? { error: { code: 'FUNDING_FAILED', message: end.message } } : {}),
    createdAt: createdAt.toISOString(),
    ...(end.endedAt ? { endedAt: end.endedAt } : {}),
  }
}
