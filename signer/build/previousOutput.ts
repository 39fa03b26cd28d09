import { readBlock, readReceipt, type Receipt } from '../../evm/read.js'
import { refusal } from '../../custody/policy.js'
import { findOperation, type Operation } from '../../operations/operations.js'
import { ServiceError } from '../../domain/errors.js'
import { lastKind, type PlanStep } from '../../domain/intent/intent.js'
import { assetUnits } from '../../domain/money.js'
import { chainKeyOf, operationId } from '../../operations/operationId.js'
import { outcomeOf } from '../../operations/outcome.js'
import { isOutcomeOf, readMoved, readOutcome } from '../../evm/logs/outcomes.js'
import type { SigningContext } from '../signingContext.js'
import type { Held } from '../../domain/intent/waiting.js'
import type { Db } from '../../db/client/connect.js'

type SourcedOperation = { operation: Operation; sourceStep: PlanStep; wallet: string }

/**
 * Base units that the previous step delivered to the wallet, read from the logs of its operation on the spending
 * chain. The row only gives the transaction hash: its amounts are never trusted. A bridge counts for at most the
 * amount that its step burns.
 *
 * @throws {ServiceError} RPC_ERROR while no endpoint has the receipt in a canonical block that is deep enough;
 *   INTERNAL when the transaction of the row has no such effect.
 */
export async function readPreviousOutput(
  db: Db,
  context: SigningContext,
  { operation, sourceStep, wallet }: SourcedOperation,
): Promise<bigint> {
  const { client, head } = context
  const kind = lastKind(sourceStep)
  const id = operationId(operation.intentId, sourceStep.sequence, kind)
  const row = await findOperation(db, id)
  const outcome = row && outcomeOf(row)
  if (!row || outcome?.kind !== 'done') throw notThere()
  const receipt = await readCanonicalReceipt(context, outcome.txHash)
  const { confirmations } = client.chain
  if (!receipt || receipt.blockNumber + BigInt(confirmations) > head + 1n) throw notThere()
  const chainKey = kind === 'mint' ? row.chainKey : chainKeyOf(kind, id)
  const expected = { kind, chainKey, wallet, treasury: null }
  const own = receipt.logs
    .map((log) => readOutcome(client.chain, log))
    .find((one) => one?.success && isOutcomeOf(one, expected))
  if (!own) throw refusal('the previous step must have delivered what this step spends.')
  const { units } = readMoved(client.chain, expected, { own: own.log, all: receipt.logs })
  const burned = assetUnits(sourceStep.amount)
  return sourceStep.type === 'bridge' && units > burned ? burned : units
}

/** From the first endpoint whose own block at that height contains the receipt. */
async function readCanonicalReceipt(
  { client }: SigningContext,
  hash: string,
): Promise<Receipt | undefined> {
  for (const endpoint of client.endpoints) {
    const receipt = await readReceipt(endpoint, hash).catch(() => undefined)
    if (!receipt) continue
    const { blockNumber, blockHash } = receipt
    const block = await readBlock(endpoint, { blockNumber }).catch(() => undefined)
    if (receipt.success && block?.hash === blockHash) return receipt
  }
  return undefined
}

function notThere() {
  const message = 'The output of the previous step is not on the chain yet.'
  return new ServiceError('RPC_ERROR', message, { waitsFor: 'INDEXING' } satisfies Held)
}
