import {
  lockContended,
  readContenders,
  type Contender,
} from '../../operations/signing/contending.js'
import { refuseOperation, returnOperation } from '../../operations/signing/signing.js'
import { failureCodes } from '../../domain/intent/operation.js'
import { shortage, type CapacityDemand } from './capacityDemand.js'
import { claimedBy, type SigningContext, type SignerTools } from '../signingContext.js'
import { RETRY_MS } from '../../runtime/durations.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Db } from '../../db/client/connect.js'
import type { Prepared } from '../prepare.js'

type AdmittingTools = Pick<SignerTools, 'db' | 'keyring'>

/** Locks what the operations contend for until the transaction ends. Call it before locking their rows. */
export async function lockContention(
  trx: Db,
  { client }: SigningContext,
  prepared: Prepared[],
): Promise<void> {
  const keys = demandsOf(prepared).map(({ key }) => key)
  if (keys.length > 0) await lockContended(trx, client.chain.chainId, keys)
}

/**
 * Selects the operations that can run together with each other and with those in flight. The order is kept.
 * The signer releases the others: they stay queued, or are deferred when a market is full or empty. Such a deferral
 * does not count as a refusal. An operation that would fit alone goes before operations created after it.
 */
export async function admit(
  { db: trx, keyring }: AdmittingTools,
  context: SigningContext,
  prepared: Prepared[],
): Promise<Prepared[]> {
  const resources = demandsOf(prepared).flatMap((demand) => demand.resources)
  if (resources.length === 0) return prepared
  const { client, head } = context
  const ids = prepared.map(({ operation }) => operation.id)
  const { chainId } = client.chain
  const contenders = await readContenders(trx, { chainId, resources, head, ids })
  const admitted: Prepared[] = []
  const rejected: Prepared[] = []
  for (const one of prepared) {
    if (fits(one, { contenders, admitted, rejected })) admitted.push(one)
    else rejected.push(one)
  }
  for (const one of rejected) await release({ db: trx, keyring }, client, one)
  return admitted
}

const demandOf = (prepared: Prepared) =>
  prepared.kind === 'userOperation' ? prepared.demand : undefined
const demandsOf = (prepared: Prepared[]) => prepared.flatMap((one) => demandOf(one) ?? [])

type Rivals = { contenders: Contender[]; admitted: Prepared[]; rejected: Prepared[] }

function fits(one: Prepared, { contenders, admitted, rejected }: Rivals): boolean {
  const demand = demandOf(one)
  if (!demand) return true
  const { key, resources, limit } = demand
  const isRival = (rival: Prepared) => demandOf(rival)?.key === key
  const own = contenders.find(({ id }) => id === one.operation.id)
  const before = contenders
    .filter(({ resource, isOwn }) => !isOwn && resources.includes(resource))
    .filter((other) => other.isInFlight || (isServable(other, limit) && isBefore(other, own)))
  const rivals = [...before, ...demandsOf(admitted.filter(isRival))]
  // Without rivals the operation's own simulation is sufficient.
  if (rivals.length === 0 && !rejected.some(isRival)) return true
  const isPassed = rejected.filter(isRival).some((rival) => isServable(demandOf(rival), limit))
  const sum = rivals.reduce((total, { units }) => total + units, demand.units)
  return !isPassed && sum <= limit
}

/** True when the operation would fit if nothing were in flight. */
const isServable = (demand: Pick<CapacityDemand, 'units'> | undefined, limit: bigint) =>
  demand !== undefined && demand.units <= limit

const isBefore = (other: Contender, own: Contender | undefined) =>
  own !== undefined && other.priority <= own.priority && other.createdAt < own.createdAt

async function release(
  { db: trx, keyring }: AdmittingTools,
  client: ChainClient,
  one: Prepared,
): Promise<void> {
  const { kind } = one.operation
  const claimed = claimedBy({ keyring }, one.operation)
  const demand = demandOf(one)
  if (!demand?.market || (kind !== 'deposit' && kind !== 'withdraw')) {
    await returnOperation(trx, claimed, RETRY_MS)
    return
  }
  await refuseOperation(trx, claimed, {
    state: 'deferred',
    code: failureCodes[kind],
    message: shortage(client, kind, demand),
    retryAfterMs: RETRY_MS,
    waitsFor: 'MARKET_ROOM',
  })
}
