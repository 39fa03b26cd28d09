import { setTimeout as sleep } from 'node:timers/promises'
import { faultPoint } from '../runtime/faultPoints.js'
import { disabledBecause, type ChainClient } from '../evm/connect.js'
import { markOutOfGas } from '../operations/signing/senderGas.js'
import { readOrders } from '../operations/signing/orders.js'
import { readSenders, returnOperation, type Sender } from '../operations/signing/signing.js'
import { BUNDLE_SIZE, claimOperations } from '../operations/signing/claiming.js'
import { ServiceError } from '../domain/errors.js'
import { MAX_NOTIFY_WAIT_MS } from '../runtime/durations.js'
import type { Held } from '../domain/intent/waiting.js'
import { groupByTransaction } from './build/bundles.js'
import { resubmit } from './senders/resubmit.js'
import { atMost } from '../runtime/timeout.js'
import { PREPARE_WAIT_MS, prepareTogether } from './patience.js'
import { prepareOrRelease, release, releaseAll } from './release.js'
import { keepReplacing } from './senders/replace.js'
import {
  readSenderState,
  readSigningContext,
  claimedBy,
  type SenderState,
  type SigningContext,
  type SignerTools,
} from './signingContext.js'
import { signAndStore, unpaidGas } from './store.js'
import type { Prepared } from './prepare.js'
import type { Operation } from '../operations/operations.js'
import type { NextWork } from '../operations/queue.js'

/** Operations ordered within this time share a bundle. */
const DEBOUNCE_MS = 50
/**
 * After a bundle that is not full, a sender rests for twice the bundle's duration. Under load more operations then
 * share a transaction: 12 instead of 3 with 400 wallets at once. On an idle sender a bundle takes about 40 ms.
 */
const REST = { times: 2, atMostMs: 1_000 }
/** Other senders serve the wallets of a sender whose lowest nonce is open longer than two steps may take. */
const LATE_STEPS = 2

/**
 * Runs one loop per sender, so that a slow chain or sender delays no other. The loops broadcast nothing.
 *
 * @param nextWork - Created by `watchQueue`.
 */
export async function runSigner(
  tools: SignerTools,
  nextWork: NextWork,
  stopping: AbortSignal,
): Promise<void> {
  const senders = await readSenders(tools.db)
  const { chains } = tools
  const serving = chains.list.flatMap((client) =>
    senders
      .filter(({ chainId }) => Number(chainId) === client.chain.chainId)
      .map((sender) => serveSender(tools, { client, sender, nextWork }, stopping)),
  )
  const replacing = chains.list.map((client) => keepReplacing(tools, client, stopping))
  await Promise.all([...serving, ...replacing])
}

type SenderLoop = { client: ChainClient; sender: Sender }

/** Signs one bundle after the other. Late operations of a bundle are signed concurrently with the next bundle. */
async function serveSender(
  tools: SignerTools,
  { client, sender, nextWork }: SenderLoop & { nextWork: NextWork },
  stopping: AbortSignal,
): Promise<void> {
  const delay = (ms: number) => sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
  let late = Promise.resolve()
  while (!stopping.aborted) {
    // Subscribes before reading, so that no notification is missed.
    const work = nextWork(MAX_NOTIFY_WAIT_MS, client.chain.chainId)
    const startedAt = performance.now()
    const bundle = await signNext(tools, { client, sender }).catch((error: unknown) => {
      tools.log.warn({ err: error, sender: sender.address }, 'operations not claimed')
      return nothing
    })
    if (bundle.late) {
      await late
      late = bundle.late
    }
    if (bundle.size === 0) {
      await work
      await delay(DEBOUNCE_MS)
    } else if (bundle.size < BUNDLE_SIZE) {
      await delay(Math.min(REST.times * (performance.now() - startedAt), REST.atMostMs))
    }
  }
  await late
}

/** Serves each sender of a chain once. True when an operation was claimed. */
export async function signOnce(tools: SignerTools, client: ChainClient): Promise<boolean> {
  const senders = await readSenders(tools.db, client.chain.chainId)
  const bundles = await Promise.all(senders.map((sender) => signNext(tools, { client, sender })))
  for (const { late } of bundles) await late
  return bundles.some(({ size }) => size > 0)
}

/** Number of claimed operations, and the promise of the late ones. The promise never rejects. */
type Bundle = { size: number; late?: Promise<void> | undefined }
const nothing: Bundle = { size: 0 }

/** Claims the next operations of a sender, prepares them, and stores the signatures. */
async function signNext(tools: SignerTools, { client, sender }: SenderLoop): Promise<Bundle> {
  const { db, keyring, log, patienceMs = PREPARE_WAIT_MS } = tools
  // Signatures for a chain that fails its deployment checks are worthless, so the queue waits.
  if (disabledBecause(client, 'chain') || keyring.stopFile.isThere()) return nothing
  const lateSeconds = LATE_STEPS * client.chain.stepSeconds[1]
  const claimed = await claimOperations(db, { ...sender, lateSeconds }, keyring.leaseOwner)
  const size = claimed.length
  if (size === 0) return nothing
  faultPoint('signer: claimed, not signed')
  try {
    const context = await atMost(readSigningContext(client, sender), patienceMs)
    if (!context) throw new ServiceError('RPC_ERROR', `${client.chain.name} answers too slowly.`)
    const [only] = claimed
    if (only?.state === 'signed') {
      await signAgain(tools, context, only)
      return { size }
    }
    const orders = await readOrders(db, claimed)
    const [senderState, { ready, late }] = await Promise.all([
      readSenderState(context),
      prepareTogether(
        claimed,
        (operation) => {
          const order = orders.get(operation.id) ?? { secret: undefined, planned: undefined }
          return prepareOrRelease(tools, context, { operation, order })
        },
        patienceMs,
      ),
    ])
    const funded = { ...context, ...senderState }
    await storeAll(tools, funded, ready)
    return { size, late: late?.then((prepared) => storeAll(tools, funded, prepared)) }
  } catch (error) {
    log.warn({ err: error, sender: sender.address }, 'bundle not signed')
    await releaseAll(tools, claimed, error)
    return { size }
  }
}

/** Never throws: an operation that cannot be stored is released, at the latest when its lease expires. */
async function storeAll(
  tools: SignerTools,
  context: SigningContext & SenderState,
  prepared: Prepared[],
): Promise<void> {
  for (const group of groupByTransaction(prepared)) {
    await storeGroup(tools, context, group).catch((error: unknown) => {
      tools.log.warn({ err: error, sender: context.sender.address }, 'bundle not stored')
    })
  }
}

/** Releases an operation that cannot be signed. Halves a bundle that cannot be stored until it can. */
async function storeGroup(
  tools: SignerTools,
  context: SigningContext & SenderState,
  group: Prepared[],
): Promise<void> {
  const { client, sender } = context
  const operations = group.map(({ operation }) => operation)
  try {
    const { stored, broken, unlocked } = await signAndStore(tools, context, group)
    if (stored) {
      tools.log.info(
        { chain: client.chain.name, sender: sender.address, ...stored },
        'bundle signed',
      )
    }
    for (const { operation, error } of broken) {
      tools.log.warn({ err: error, operation: operation.id }, 'operation not signed')
      await release(tools, operation, error)
    }
    // A pause must not count as a lost lease.
    await returnAll(tools, unlocked)
  } catch (error) {
    const middle = Math.ceil(group.length / 2)
    if (group.length > 1) {
      await storeGroup(tools, context, group.slice(0, middle))
      await storeGroup(tools, context, group.slice(middle))
      return
    }
    if (await isHandedOver(tools, context, { operations, error })) return
    tools.log.warn({ err: error, sender: sender.address }, 'bundle not signed')
    await releaseAll(tools, operations, error)
  }
}

async function signAgain(
  tools: SignerTools,
  context: SigningContext,
  operation: Operation,
): Promise<void> {
  try {
    await resubmit(tools, context, operation)
  } catch (error) {
    if (await isHandedOver(tools, context, { operations: [operation], error })) return
    throw error
  }
}

/** Releases operations that this sender cannot pay, for another sender. If none can pay, the rows store that reason. */
async function isHandedOver(
  tools: SignerTools,
  { client: { chain }, sender }: SigningContext,
  { operations, error }: { operations: Operation[]; error: unknown },
): Promise<boolean> {
  const gas = unpaidGas(error)
  if (gas === undefined) return false
  const { isNew, isReplaceable } = await markOutOfGas(tools.db, sender, gas)
  const facts = { chain: chain.name, sender: sender.address, gas }
  if (isNew) tools.log.warn(facts, 'sender out of gas')
  if (!isReplaceable) {
    const message = `Every sender on ${chain.name} is out of gas.`
    const details = { waitsFor: 'SENDER_GAS' } satisfies Held
    await releaseAll(tools, operations, new ServiceError('RPC_ERROR', message, details))
    return true
  }
  await returnAll(tools, operations)
  return true
}

/** Ends the leases that this signer still holds. */
async function returnAll(tools: SignerTools, operations: Operation[]): Promise<void> {
  await Promise.all(operations.map((one) => returnOperation(tools.db, claimedBy(tools, one), 0)))
}
