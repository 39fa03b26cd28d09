import { lockContended, readContenders, type Contender } from '../db/lanes/contending.js'
import { refuseOperation, returnOperation } from '../db/lanes/signing.js'
import { failureCodes } from '../domain/operation.js'
import { shortage, type Claim } from './claim.js'
import { takenBy, type Round, type SignerTools } from './round.js'
import { RETRY_MS } from '../durations.js'
import type { ChainClient } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { Prepared } from './prepare.js'

type AdmittingTools = Pick<SignerTools, 'db' | 'keyring'>

/** Holds what the operations contend for, until the transaction ends. Before their rows are locked. */
export async function lockClaims(trx: Db, { client }: Round, prepared: Prepared[]): Promise<void> {
  const keys = claimsOf(prepared).map(({ key }) => key)
  if (keys.length > 0) await lockContended(trx, client.chain.chainId, keys)
}

/**
 * Those of the operations, in their order, that can be executed together with each other and with what is in
 * flight. The others are given back: whoever waits for his turn stays in the queue, whoever found a market full or
 * empty is deferred, which counts as no refusal. Whoever could be served alone and was turned away is served
 * before whoever comes later.
 */
export async function admit(
  { db: trx, keyring }: AdmittingTools,
  round: Round,
  prepared: Prepared[],
): Promise<Prepared[]> {
  const resources = claimsOf(prepared).flatMap((claim) => claim.resources)
  if (resources.length === 0) return prepared
  const { client, head } = round
  const ids = prepared.map(({ operation }) => operation.id)
  const { chainId } = client.chain
  const contenders = await readContenders(trx, { chainId, resources, head, ids })
  const admitted: Prepared[] = []
  const turnedAway: Prepared[] = []
  for (const one of prepared) {
    if (fits(one, { contenders, admitted, turnedAway })) admitted.push(one)
    else turnedAway.push(one)
  }
  for (const one of turnedAway) await giveBack({ db: trx, keyring }, client, one)
  return admitted
}

const claimOf = (prepared: Prepared) =>
  prepared.kind === 'userOperation' ? prepared.claim : undefined
const claimsOf = (prepared: Prepared[]) => prepared.flatMap((one) => claimOf(one) ?? [])

type Rivals = { contenders: Contender[]; admitted: Prepared[]; turnedAway: Prepared[] }

function fits(one: Prepared, { contenders, admitted, turnedAway }: Rivals): boolean {
  const claim = claimOf(one)
  if (!claim) return true
  const { key, resources, limit } = claim
  const isRival = (rival: Prepared) => claimOf(rival)?.key === key
  const own = contenders.find(({ id }) => id === one.operation.id)
  const before = contenders
    .filter(({ resource, isOwn }) => !isOwn && resources.includes(resource))
    .filter((other) => other.isInFlight || (isServable(other, limit) && isBefore(other, own)))
  const taken = [...before, ...claimsOf(admitted.filter(isRival))]
  // What its own simulation has shown is enough where nobody else takes any.
  if (taken.length === 0 && !turnedAway.some(isRival)) return true
  const isPassed = turnedAway.filter(isRival).some((rival) => isServable(claimOf(rival), limit))
  const sum = taken.reduce((total, { units }) => total + units, claim.units)
  return !isPassed && sum <= limit
}

/** Could be served if nothing were in flight. */
const isServable = (claim: Pick<Claim, 'units'> | undefined, limit: bigint) =>
  claim !== undefined && claim.units <= limit

const isBefore = (other: Contender, own: Contender | undefined) =>
  own !== undefined && other.priority <= own.priority && other.createdAt < own.createdAt

async function giveBack(
  { db: trx, keyring }: AdmittingTools,
  client: ChainClient,
  one: Prepared,
): Promise<void> {
  const { kind } = one.operation
  const taken = takenBy({ keyring }, one.operation)
  const claim = claimOf(one)
  if (!claim?.market || (kind !== 'deposit' && kind !== 'withdraw')) {
    await returnOperation(trx, taken, RETRY_MS)
    return
  }
  await refuseOperation(trx, taken, {
    state: 'deferred',
    code: failureCodes[kind],
    message: shortage(client, kind, claim),
    retryAfterMs: RETRY_MS,
    waitsFor: 'MARKET_ROOM',
  })
}
