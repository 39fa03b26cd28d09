import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../crashPoints.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import { setDry } from '../db/lanes/gas.js'
import { readOrders } from '../db/lanes/orders.js'
import { readLanes, returnOperation, type Lane } from '../db/lanes/signing.js'
import { BUNDLE_SIZE, takeOperations } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { LOOK_MS } from '../durations.js'
import type { Held } from '../domain/waiting.js'
import { groupByTransaction } from './bundles.js'
import { carryAgain } from './carry.js'
import { atMost } from '../timeout.js'
import { PATIENCE_MS, prepareTogether } from './patience.js'
import { prepareOrRelease, release, releaseAll } from './release.js'
import { keepReplacing } from './replace.js'
import { readMeans, readRound, takenBy, type Means, type Round, type SignerTools } from './round.js'
import { signAndStore, unpaidGas } from './store.js'
import type { Prepared } from './prepare.js'
import type { Operation } from '../db/lanes/operations.js'
import type { NextWork } from '../db/lanes/queue.js'

/** What is ordered at the same moment travels together. */
const DEBOUNCE_MS = 50
/**
 * After a bundle that is not full a lane rests for so many times what the bundle took, so that under load operations
 * travel together: 12 a transaction instead of 3 with 400 wallets at once. On an idle lane a bundle takes about 40 ms.
 */
const REST = { times: 2, atMostMs: 1_000 }
/** A lane whose lowest nonce is open for so many times what a step may take lets others serve its wallets. */
const LATE_STEPS = 2

/**
 * The signer's loops, one per lane, so that neither a chain nor a lane that is slow delays another one. They broadcast
 * nothing.
 *
 * @param nextWork - As `watchQueue` makes it.
 */
export async function runSigner(
  tools: SignerTools,
  nextWork: NextWork,
  stopping: AbortSignal,
): Promise<void> {
  const lanes = await readLanes(tools.db)
  const { chains } = tools
  const serving = chains.list.flatMap((client) =>
    lanes
      .filter(({ chainId }) => Number(chainId) === client.chain.chainId)
      .map((lane) => serveLane(tools, { client, lane, nextWork }, stopping)),
  )
  const replacing = chains.list.map((client) => keepReplacing(tools, client, stopping))
  await Promise.all([...serving, ...replacing])
}

type Place = { client: ChainClient; lane: Lane }

/** One bundle after the other. What is late of one is signed beside the next, what is late of that after it. */
async function serveLane(
  tools: SignerTools,
  { client, lane, nextWork }: Place & { nextWork: NextWork },
  stopping: AbortSignal,
): Promise<void> {
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  let late = Promise.resolve()
  while (!stopping.aborted) {
    // Before it looks, so that nothing is missed that is announced meanwhile.
    const work = nextWork(LOOK_MS, client.chain.chainId)
    const begunAt = performance.now()
    const bundle = await signNext(tools, { client, lane }).catch((error: unknown) => {
      tools.log.warn({ err: error, lane: lane.sender }, 'nothing was claimed')
      return nothing
    })
    if (bundle.late) {
      await late
      late = bundle.late
    }
    if (bundle.size === 0) {
      await work
      await pause(DEBOUNCE_MS)
    } else if (bundle.size < BUNDLE_SIZE) {
      await pause(Math.min(REST.times * (performance.now() - begunAt), REST.atMostMs))
    }
  }
  await late
}

/** Serves every lane of a chain that has something to sign once. True when anything was claimed. */
export async function signOnce(tools: SignerTools, client: ChainClient): Promise<boolean> {
  const lanes = await readLanes(tools.db, client.chain.chainId)
  const bundles = await Promise.all(lanes.map((lane) => signNext(tools, { client, lane })))
  for (const { late } of bundles) await late
  return bundles.some(({ size }) => size > 0)
}

/** How many operations were claimed, and what of them was late, until it is signed or released; it never rejects. */
type Bundle = { size: number; late?: Promise<void> | undefined }
const nothing: Bundle = { size: 0 }

/** Claims what a lane may sign next, prepares it, and stores what was signed. */
async function signNext(tools: SignerTools, { client, lane }: Place): Promise<Bundle> {
  const { db, keyring, log, patienceMs = PATIENCE_MS } = tools
  // What is queued waits: a signature for a chain that is not what it should be is worth nothing.
  if (disabledBecause(client, 'chain')) return nothing
  const lateSeconds = LATE_STEPS * client.chain.stepSeconds[1]
  const claimed = await takeOperations(db, { ...lane, lateSeconds }, keyring.taker)
  const size = claimed.length
  if (size === 0) return nothing
  crashPoint('signer: taken, not signed')
  try {
    const round = await atMost(readRound(client, lane), patienceMs)
    if (!round) throw new ServiceError('RPC_ERROR', `${client.chain.name} answers too slowly.`)
    const [only] = claimed
    if (only?.state === 'signed') {
      await signAgain(tools, round, only)
      return { size }
    }
    const orders = await readOrders(db, claimed)
    const [means, { ready, late }] = await Promise.all([
      readMeans(round),
      prepareTogether(
        claimed,
        (operation) => {
          const order = orders.get(operation.id) ?? { secret: undefined, planned: undefined }
          return prepareOrRelease(tools, round, { operation, order })
        },
        patienceMs,
      ),
    ])
    const funded = { ...round, ...means }
    await storeAll(tools, funded, ready)
    return { size, late: late?.then((prepared) => storeAll(tools, funded, prepared)) }
  } catch (error) {
    log.warn({ err: error, lane: lane.sender }, 'nothing was signed')
    await releaseAll(tools, claimed, error)
    return { size }
  }
}

/** Never throws: what cannot be stored is released, at the latest when its lease ends. */
async function storeAll(
  tools: SignerTools,
  round: Round & Means,
  prepared: Prepared[],
): Promise<void> {
  for (const group of groupByTransaction(prepared)) {
    await storeGroup(tools, round, group).catch((error: unknown) => {
      tools.log.warn({ err: error, lane: round.lane.sender }, 'not stored')
    })
  }
}

/** A member that cannot be signed is released alone; what cannot be stored together is halved until it can. */
async function storeGroup(
  tools: SignerTools,
  round: Round & Means,
  group: Prepared[],
): Promise<void> {
  const { client, lane } = round
  const operations = group.map(({ operation }) => operation)
  try {
    const { stored, broken } = await signAndStore(tools, round, group)
    if (stored) {
      tools.log.info({ chain: client.chain.name, lane: lane.sender, ...stored }, 'signed')
    }
    for (const { operation, error } of broken) {
      tools.log.warn({ err: error, operation: operation.id }, 'not signed')
      await release(tools, operation, error)
    }
  } catch (error) {
    const middle = Math.ceil(group.length / 2)
    if (group.length > 1) {
      await storeGroup(tools, round, group.slice(0, middle))
      await storeGroup(tools, round, group.slice(middle))
      return
    }
    if (await isHandedOver(tools, round, { operations, error })) return
    tools.log.warn({ err: error, lane: lane.sender }, 'not signed')
    await releaseAll(tools, operations, error)
  }
}

async function signAgain(tools: SignerTools, round: Round, operation: Operation): Promise<void> {
  try {
    await carryAgain(tools, round, operation)
  } catch (error) {
    if (await isHandedOver(tools, round, { operations: [operation], error })) return
    throw error
  }
}

/** What a lane cannot pay another one may: the rows are free at once, or say why where no lane can pay. */
async function isHandedOver(
  tools: SignerTools,
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
    await releaseAll(tools, operations, new ServiceError('RPC_ERROR', message, details))
    return true
  }
  await Promise.all(operations.map((one) => returnOperation(tools.db, takenBy(tools, one), 0)))
  return true
}
