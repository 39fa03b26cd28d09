import { crashPoint } from '../crashPoints.js'
import { readLanes, returnOperation, type Lane } from '../db/lanes/signing.js'
import { setDry } from '../db/lanes/gas.js'
import { readOrders } from '../db/lanes/orders.js'
import {
  BUNDLE_SIZE,
  LEASES_IN_COMPANY,
  hasOthersToSign,
  hasWorkToSign,
  takeOperations,
  type Rotation,
} from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { MINTED, failureCodes } from '../domain/operation.js'
import type { Held } from '../domain/waiting.js'
import { prepare, type NotPrepared, type Ordered, type Prepared } from './prepare.js'
import { readRound, takenBy, type Round, type SignerTools } from './round.js'
import { carryAgain, lookUp } from './carry.js'
import { readSpentSince } from './spentSince.js'
import { groupByTransaction } from './bundles.js'
import { RETRY_MS, deferral, giveAllBack, giveBack, refuse } from './giveBack.js'
import { serveLanes, type Service, type Turn } from './loops.js'
import { keepReplacing } from './replace.js'
import { signAndStore, unpaidGas } from './store.js'
import { atMost, inWaves } from './waves.js'
import { isRefusedElsewhere } from './secondOpinion.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import type { Operation } from '../db/lanes/operations.js'
import type { NextWork } from '../db/lanes/queue.js'

/** A lane whose lowest nonce is open for so many times what a step may take lets others serve its wallets. */
const LATE_STEPS = 2
/** What is not ready by then goes back. */
const PREPARE_MS = 15_000
/** An operation whose leases keep ending without a verdict breaks its taker. */
const LOST_LEASES = 5
const QUARANTINE_MS = 3_600_000

/**
 * The signer's loops, one per lane, so that neither a chain nor a lane that is slow delays another one: take,
 * check, simulate, sign, store. They broadcast nothing.
 *
 * @param nextWork - As `watchQueue` makes it.
 */
export async function runSigner(
  tools: SignerTools,
  nextWork: NextWork,
  stopping: AbortSignal,
): Promise<void> {
  const signChain = (client: ChainClient) => {
    const turnTools = { ...tools, rotations: new Map<string, Rotation>() }
    const service: Service = {
      findLanes: () => findLanesToServe(tools, client),
      begin: (lane, callOthers, crowd) =>
        beginTurn({ ...turnTools, callOthers, crowd }, client, lane),
      hasOthers: (crowd) => hasOthersToSign(tools.db, client.chain.chainId, crowd),
      onFailure(error) {
        tools.log.warn({ err: error, chain: client.chain.name }, 'signer round failed')
      },
    }
    const { chainId } = client.chain
    return serveLanes(service, (timeoutMs) => nextWork(timeoutMs, chainId), stopping)
  }
  await Promise.all(
    tools.chains.list.flatMap((client) => [
      signChain(client),
      keepReplacing(tools, client, stopping),
    ]),
  )
}

/** Serves every lane of a chain that has something to sign once. True when anything was taken. */
export async function signOnce(tools: SignerTools, client: ChainClient): Promise<boolean> {
  const turnTools = {
    ...tools,
    rotations: new Map<string, Rotation>(),
    callOthers: () => undefined,
  }
  const lanes = await findLanesToServe(tools, client)
  const turns = await Promise.all(lanes.map((lane) => beginTurn(turnTools, client, lane)))
  await Promise.all(turns.map(({ over }) => over))
  return turns.some(({ taken }) => taken > 0)
}

async function findLanesToServe({ db }: SignerTools, client: ChainClient): Promise<Lane[]> {
  const { chainId } = client.chain
  // What is queued waits: a signature for a chain that is not what it should be is worth nothing.
  if (disabledBecause(client, 'chain')) return []
  return (await hasWorkToSign(db, chainId)) ? readLanes(db, chainId) : []
}

/**
 * `rotations`: which account's turn it is, for each lane. `callOthers`: there is something that another lane may
 * take. `crowd`: nothing is taken if all is this account's.
 */
type TurnTools = SignerTools & {
  rotations: Map<string, Rotation>
  callOthers: () => void
  crowd?: string | undefined
}

async function beginTurn(tools: TurnTools, client: ChainClient, lane: Lane): Promise<Turn> {
  const { stepSeconds } = client.chain
  const rotation = tools.rotations.get(lane.sender) ?? { after: '' }
  tools.rotations.set(lane.sender, rotation)
  const patient = {
    ...lane,
    lateSeconds: LATE_STEPS * stepSeconds[1],
    rotation,
    crowd: tools.crowd,
  }
  const taken = await takeOperations(tools.db, patient, tools.keyring.taker)
  const isAlone = taken.some(({ lostLeases }) => lostLeases >= LEASES_IN_COMPANY)
  const isFull = taken.length >= BUNDLE_SIZE
  const over = serveTaken(tools, { client, lane }, taken)
  return { taken: taken.length, isFull, isAlone, crowd: findCrowd(taken), over }
}

/** The account to which more than half of them belong. */
function findCrowd(taken: Operation[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { accountId } of taken) counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  return [...counts].find(([, count]) => 2 * count > taken.length)?.[0]
}

async function serveTaken(
  tools: TurnTools,
  { client, lane }: Pick<Round, 'client' | 'lane'>,
  taken: Operation[],
): Promise<void> {
  if (taken.length === 0) return
  crashPoint('signer: taken, not signed')
  try {
    await signTaken(tools, await readRound(client, lane), taken)
  } catch (error) {
    tools.log.warn({ err: error, lane: lane.sender }, 'nothing was signed')
    await giveAllBack(tools, taken, error)
  }
}

async function signTaken(tools: TurnTools, round: Round, taken: Operation[]): Promise<void> {
  const carriedAgain = taken.filter(({ state }) => state === 'signed')
  for (const operation of carriedAgain) await signAgain(tools, round, operation)
  const fresh = taken.filter(({ state }) => state === 'queued')
  const orders = await readOrders(tools.db, fresh)
  await inWaves(
    fresh,
    (operation) => {
      const order = orders.get(operation.id) ?? { secret: undefined, planned: undefined }
      return prepareOrGiveBack(tools, round, { operation, order })
    },
    async (ready) => {
      for (const group of groupByTransaction(ready)) await signGroup(tools, round, group)
    },
  )
}

/** A member that cannot be signed is given back alone; what cannot be stored together is halved until it can. */
async function signGroup(tools: TurnTools, round: Round, group: Prepared[]): Promise<void> {
  const { client, lane } = round
  try {
    const { stored, broken } = await signAndStore(tools, round, group)
    if (stored) {
      tools.log.info({ chain: client.chain.name, lane: lane.sender, ...stored }, 'signed')
    }
    for (const { operation, error } of broken) {
      tools.log.warn({ err: error, operation: operation.id }, 'not signed')
      await giveBack(tools, operation, error)
    }
  } catch (error) {
    const middle = Math.ceil(group.length / 2)
    if (group.length > 1) {
      for (const half of [group.slice(0, middle), group.slice(middle)]) {
        await signGroup(tools, round, half)
      }
      return
    }
    const operations = group.map(({ operation }) => operation)
    if (await isHandedOver(tools, round, { operations, error })) return
    tools.log.warn({ err: error, lane: lane.sender }, 'not signed')
    await giveAllBack(tools, operations, error)
  }
}

/** What a lane cannot pay another one may: the rows are free at once, or tell why where no lane can pay. */
async function isHandedOver(
  tools: TurnTools,
  { client: { chain }, lane }: Round,
  { operations, error }: { operations: Operation[]; error: unknown },
): Promise<boolean> {
  const gas = unpaidGas(error)
  if (gas === undefined) return false
  const { isNews, isReplaceable } = await setDry(tools.db, lane, gas)
  const facts = { chain: chain.name, lane: lane.sender, gas }
  if (isNews) tools.log.warn(facts, 'lane is out of gas')
  if (!isReplaceable) {
    const message = `Every lane on ${chain.name} is out of gas.`
    const details = { waitsFor: 'LANE_GAS' } satisfies Held
    await giveAllBack(tools, operations, new ServiceError('RPC_ERROR', message, details))
    return true
  }
  await Promise.all(operations.map((one) => returnOperation(tools.db, takenBy(tools, one), 0)))
  tools.callOthers()
  return true
}

async function signAgain(tools: TurnTools, round: Round, operation: Operation): Promise<void> {
  try {
    await carryAgain(tools, round, operation)
  } catch (error) {
    if (await isHandedOver(tools, round, { operations: [operation], error })) return
    throw error
  }
}

/** Prepares an operation; writes its refusal, or returns what may be signed. */
async function prepareOrGiveBack(
  tools: SignerTools,
  round: Round,
  ordered: Ordered,
): Promise<Prepared | undefined> {
  const { operation } = ordered
  try {
    return await prepareOne(tools, round, ordered)
  } catch (error) {
    tools.log.warn({ err: error, operation: operation.id }, 'operation not prepared')
    await giveBack(tools, operation, error).catch((failure: unknown) => {
      tools.log.warn({ err: failure, operation: operation.id }, 'operation not given back')
    })
    return undefined
  }
}

async function prepareOne(
  tools: SignerTools,
  round: Round,
  ordered: Ordered,
): Promise<Prepared | undefined> {
  const { operation } = ordered
  if (operation.lostLeases >= LOST_LEASES) {
    const message = 'It was taken five times without a verdict.'
    const refusal = deferral('INTERNAL', message, QUARANTINE_MS)
    // After the hour it gets another chance, still alone.
    await refuse(tools, operation, { ...refusal, lostLeases: LEASES_IN_COMPANY })
    tools.log.error({ operation: operation.id }, 'operation in quarantine')
    return undefined
  }
  const { name } = round.client.chain
  if (round.head < operation.minBlock) {
    throw new ServiceError('RPC_ERROR', `The node of ${name} is behind.`)
  }
  const result = await atMost(prepare(tools, round, ordered), PREPARE_MS)
  if (!result) throw new ServiceError('RPC_ERROR', `${name} answers too slowly.`)
  if (result.kind !== 'spent' && result.kind !== 'refused') return result
  await writeNotPrepared(tools, round, { ...result, order: ordered.order })
  return undefined
}

async function writeNotPrepared(tools: SignerTools, round: Round, result: NotPrepared & Ordered) {
  const { operation } = result
  const { head } = round
  if (result.kind === 'spent' && operation.kind === 'mint') {
    const message = 'Somebody has minted it already, its log is looked up.'
    const spentSince = await readSpentSince(tools.db, round.client, operation)
    await refuse(tools, operation, { ...deferral(MINTED, message, RETRY_MS), spentSince })
    return
  }
  if (result.kind === 'spent') {
    await lookUp(tools, round, operation)
    return
  }
  // One refusal may be an effect that this node has not seen yet: only a later block makes it final.
  const again = operation.refusedBlock !== null && operation.refusedBlock < head
  // What was burned comes out: a mint is tried for ever, with a message that is attested anew.
  const mayEnd = again && operation.kind !== 'mint'
  const isOver = mayEnd && (await isRefusedElsewhere(tools, round, result))
  if (mayEnd && !isOver) {
    const facts = { chain: round.client.chain.name, operation: operation.id }
    tools.log.warn(facts, 'refused by one endpoint only, tried again')
  }
  await refuse(tools, operation, {
    state: isOver ? 'rejected' : 'deferred',
    code: failureCodes[operation.kind],
    message: `The call would fail: ${result.reason}`,
    retryAfterMs: RETRY_MS,
    refusedBlock: operation.refusedBlock ?? head,
  })
}
