import { spendingChain, type PlanStep } from '../../domain/intent/intent.js'
import { chainKeyOf, operationId } from '../../operations/operationId.js'
import { bridgeOf } from '../../evm/bridges/bridges.js'
import { isKeySpent } from '../../evm/logs/spentKeys.js'
import { pageOrderers, type MissingOperation, type Orderer } from './rows/operations.js'
import { aboutOf } from './operations.js'
import { pagesOf } from './pages.js'
import type { OperationKind } from '../../domain/intent/operation.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/**
 * Reports operations of intents and fundings that have no row and whose key is spent. They were executed after the
 * restored backup was taken. The key is derived from the effect, so it is known without the row.
 */
export async function* auditMissing(tools: AuditTools): AsyncGenerator<Difference> {
  const { db, progress } = tools
  let count = 0
  for await (const page of pagesOf(
    (one) => pageOrderers(db, one),
    ({ id }) => id,
  )) {
    progress(`${(count += page.length)} open or failed intents and fundings`)
    const missing = page.flatMap((orderer) => missingOf(tools, orderer))
    const spent = await Promise.all(missing.map(async (one) => isExecuted(tools, one)))
    for (const [i, { operation }] of missing.entries()) {
      if (!spent[i]) continue
      const client = tools.chains.byId(operation.chainId)
      const about = aboutOf(client, operation)
      const remedy = 'Recreate its row. The relayer indexes its log.'
      const facts = { row: 'missing', chain: 'its key is spent', remedy }
      yield { check: 'operations', about, ...facts, repair: { type: 'order', operation } }
    }
  }
}

type Missing = { operation: MissingOperation; orderer: Orderer }

function isExecuted({ chains }: AuditTools, { operation, orderer }: Missing): Promise<boolean> {
  const { wallet, treasury } = orderer
  return isKeySpent(chains.byId(operation.chainId), { ...operation, wallet, treasury })
}

function missingOf(tools: AuditTools, orderer: Orderer): Missing[] {
  const { funding, plan } = orderer
  const all = funding
    ? [fundOf(orderer, funding)]
    : (plan?.steps ?? []).flatMap((step) => effectsOf(tools, orderer, step))
  const isThere = ({ sequence, kind }: MissingOperation) =>
    orderer.ordered.some((row) => row.sequence === sequence && row.kind === kind)
  return all.filter((one) => !isThere(one)).map((operation) => ({ operation, orderer }))
}

function fundOf(orderer: Orderer, { chainId }: NonNullable<Orderer['funding']>) {
  return toMissing(orderer, { sequence: 1, kind: 'fund', chainId: Number(chainId) })
}

function effectsOf({ registry }: AuditTools, orderer: Orderer, step: PlanStep): MissingOperation[] {
  const { sequence } = step
  const { chainId } = registry.get(spendingChain(step))
  const own = toMissing(orderer, { sequence, kind: step.type, chainId })
  if (step.type !== 'bridge') return [own]
  const destination = registry.get(step.to)
  const sourceDomain = bridgeOf(step.protocol).domainOf(registry.get(step.from))
  const burn = { ...own, burn: { sourceDomain, destinationChainId: destination.chainId } }
  const attested = orderer.nonces.find((one) => one.sequence === sequence)
  if (!attested) return [burn]
  const mint = { sequence, kind: 'mint' as const, chainId: destination.chainId }
  return [burn, { ...toMissing(orderer, mint), chainKey: attested.nonce }]
}

type PlannedEffect = { sequence: number; kind: OperationKind; chainId: number }

function toMissing({ id: intentId, accountId, walletId }: Orderer, effect: PlannedEffect) {
  const id = operationId(intentId, effect.sequence, effect.kind)
  // The key of a mint is the nonce of its message. The caller sets it.
  const chainKey = effect.kind === 'mint' ? '' : chainKeyOf(effect.kind, id)
  return { ...effect, id, intentId, accountId, walletId, chainKey }
}
