import { Context } from '@temporalio/activity'
import { crashPoint } from '../crashPoints.js'
import { readContractBlock } from '../chains/read.js'
import { markAwaited } from '../db/lanes/awaited.js'
import { findBurn, insertBurn, type Burn } from '../db/lanes/burns.js'
import { setDelay, setRecovery } from '../db/intents/status.js'
import { findOperation, type Operation } from '../db/lanes/operations.js'
import { assetText } from '../domain/money.js'
import { isUnsettled, type Hold, type Unsettled } from '../domain/hold.js'
import { isExpired } from '../protocols/bridges/bridge.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { outcomeOf } from '../lanes/outcome.js'
import { operationId } from '../lanes/operationId.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import { waitInSlot } from './slot.js'
import { finalizeIntent } from './status.js'
import {
  completeIfLast,
  failIfSimulated,
  readSpending,
  runStep,
  type StepInput,
  type StepResult,
  type Tools,
} from './step.js'
import { backoffMs, RETRY_MS } from '../durations.js'
import type { Db } from '../db/connection/connect.js'
import type { BridgeStep } from '../domain/intent.js'

/** Twice the usual time: an attestation that takes longer is late. */
const PATIENCE = 2

/** Burns the wallet's USDC in favour of the same wallet on another chain. */
export async function bridge(
  tools: Tools,
  input: StepInput<BridgeStep>,
): Promise<StepResult | Unsettled> {
  const { intentId, accountId, walletId, step, deadlineMs, shown } = input
  failIfSimulated(input)
  const source = tools.registry.get(step.from)
  const { chainId: destinationChainId } = tools.registry.get(step.to)
  const { sequence } = step
  const { chainId } = source
  const sourceDomain = bridgeOf(step.protocol).domainOf(source)
  const units = await readSpending(tools, input)
  return runStep(tools, {
    order: { intentId, sequence, kind: 'bridge', accountId, walletId, chainId, input: { units } },
    deadlineMs,
    shown,
    open: (trx, id) => insertBurn(trx, { operationId: id, sourceDomain, destinationChainId }),
  })
}

/**
 * Waits until the lanes have stored the message of a burn, here for a minute and longer in the workflow. What was
 * burned is never given up: when it is late the intent says so, when it is far too late the intent is marked as
 * failed, and the wait goes on.
 *
 * @returns The nonce of the message.
 */
export async function awaitAttestation(
  tools: Tools,
  input: StepInput<BridgeStep>,
): Promise<{ nonce: string } | Unsettled> {
  const { db, stopping } = tools
  const { intentId, step } = input
  const id = operationId(intentId, step.sequence, 'bridge')
  const first = await readBurning(db, id)
  const isSimulated = input.simulate === 'BRIDGE_TIMEOUT'
  if (isSimulated) await giveUp(tools, input, first)
  const burning = await awaitMessage(tools, step, first)
  // What was attested stays: after a reorg the burn may get another message, but a mint has the first.
  const { eventNonce } = burning.burn
  if (eventNonce) {
    await setDelay(db, intentId, null)
    return { nonce: eventNonce }
  }
  const lateness = latenessOf(tools, step, burning)
  if (lateness !== 'inTime') await storeDelay(tools, input, burning)
  if (lateness === 'tooLate') await giveUp(tools, input, burning)
  if (stopping.aborted) throw stillWaiting('The burn waits to be attested.', RETRY_MS)
  crashPoint('activity: before the wait is marked')
  if (!(await markAwaited(db, id, 'attestation'))) {
    throw stillWaiting('The burn has just been attested.', RETRY_MS)
  }
  crashPoint('activity: before it returns unsettled')
  const againMs = laterIn(tools, step, burning)
  const waitsFor = holdOf(tools, step, burning)
  const failure = isSimulated || lateness === 'tooLate' ? { failure: 'BRIDGE_TIMEOUT' } : {}
  return { settled: false, waitsFor: { ...waitsFor, ...failure }, ...(againMs && { againMs }) }
}

/** The burn once it is attested or late, or after a minute. */
async function awaitMessage(tools: Tools, step: BridgeStep, first: Burning): Promise<Burning> {
  const { db, outcomes, stopping } = tools
  const { id } = first.row
  if (first.burn.eventNonce || latenessOf(tools, step, first) !== 'inTime') return first
  return waitInSlot({ stopping, forMs: laterIn(tools, step, first) }, async (signal) => {
    for (;;) {
      // Registered before reading: a message that comes between the two wakes the wait.
      const change = outcomes.nextChange(id, signal, 'attestation')
      const burning = await readBurning(db, id)
      if (burning.burn.eventNonce || signal.aborted) return burning
      await change
    }
  })
}

/** Writes that the money is late, and where it is. */
async function storeDelay(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const funds = [{ chain: 'bridge', asset: step.asset, amount: step.amount }]
  const told = { since: sinceOf(burning), message: whereabouts(step, burning), funds }
  await setDelay(db, intentId, { code: 'BRIDGE_TIMEOUT', ...told })
}

/** Marks the intent as failed. The wait for what was burned goes on. */
async function giveUp(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const message = whereabouts(step, burning)
  const failure = { code: 'BRIDGE_TIMEOUT', message, step: step.sequence }
  await finalizeIntent(db, { intentId, failure })
}

function holdOf(tools: Tools, step: BridgeStep, burning: Burning): Hold {
  const isLate = latenessOf(tools, step, burning) !== 'inTime'
  const hold = { code: 'ATTESTATION', since: sinceOf(burning) } as const
  if (isLate) return { ...hold, message: whereabouts(step, burning) }
  const [least, most] = usualSeconds(tools, step)
  return { ...hold, message: `It usually takes ${least} to ${most} seconds.`, isUsual: true }
}

const usualSeconds = ({ registry }: Tools, { protocol, from, speed }: BridgeStep) =>
  bridgeOf(protocol).usualSeconds(registry.get(from), speed)

type Burning = { row: Operation; burn: Burn }

/** Milliseconds since the burn was first seen in a block. */
const ageOf = ({ burn: { burnedAt } }: Burning) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

const sinceOf = (burning: Burning) => new Date(Date.now() - ageOf(burning)).toISOString()

/** A burn and its operation. One that failed on the chain ends the step: the money has not left. */
async function readBurning(db: Db, id: string): Promise<Burning> {
  const [row, burn] = await Promise.all([findOperation(db, id), findBurn(db, id)])
  if (!row || !burn || row.state === 'deferred') throw notDone('Nothing was burned.')
  const outcome = outcomeOf(row)
  if (outcome.kind === 'failed') throw finalFailure('BRIDGE_FAILED', outcome.message)
  return { row, burn }
}

/** Too late: the intent is marked as failed. */
type Lateness = 'inTime' | 'late' | 'tooLate'

function latenessOf(tools: Tools, step: BridgeStep, burning: Burning): Lateness {
  const [, mostSeconds] = usualSeconds(tools, step)
  const ageMs = ageOf(burning)
  if (ageMs < mostSeconds * PATIENCE * 1_000) return 'inTime'
  return ageMs < tools.bridgeGiveUpMs ? 'late' : 'tooLate'
}

/** Milliseconds until it is later than now, late or too late; undefined when it cannot be. */
function laterIn(tools: Tools, step: BridgeStep, burning: Burning): number | undefined {
  const [, mostSeconds] = usualSeconds(tools, step)
  const ageMs = ageOf(burning)
  const next = [mostSeconds * PATIENCE * 1_000, tools.bridgeGiveUpMs].find((ms) => ageMs < ms)
  // Timers may end a millisecond early.
  return next === undefined ? undefined : next - ageMs + 1
}

const whereabouts = ({ amount, asset, from, to }: BridgeStep, { row: { txHash } }: Burning) =>
  `${amount} ${asset} was burned on ${from} in ${txHash} and waits to be attested. It arrives on ${to} by itself.`

/** Brings the burned money out on the other chain, whatever has become of its intent. */
export async function mint(
  tools: Tools,
  input: StepInput<BridgeStep> & { nonce: string | undefined },
): Promise<StepResult | Unsettled> {
  const { intentId, accountId, walletId, step, shown } = input
  const { sequence, asset, to } = step
  const { chainId } = tools.registry.get(to)
  const known = await findOperation(tools.db, operationId(intentId, sequence, 'mint'))
  const burnId = operationId(intentId, sequence, 'bridge')
  if (!known || known.state === 'deferred') await waitWhileExpired(tools, burnId, step)
  const nonce = (await findBurn(tools.db, burnId))?.eventNonce ?? input.nonce
  if (!nonce) throw notDone('The burn is not attested.')
  const units = await readSpending(tools, input)
  const order = { intentId, sequence, kind: 'mint', accountId, walletId, chainId, nonce } as const
  const result = await runStep(tools, {
    order: { ...order, input: { units } },
    deadlineMs: Infinity,
    shown,
  })
  if (isUnsettled(result)) return result
  const { txHash } = result
  const arrived = assetText(BigInt(result.units))
  await setRecovery(tools.db, intentId, { txHash, chain: to, asset, amount: arrived })
  return completeIfLast(tools, input, result)
}

/** A fast message expires. The lanes have it attested anew, with the same nonce. */
async function waitWhileExpired(
  { db, chains, registry }: Tools,
  burnId: string,
  { protocol, to }: BridgeStep,
): Promise<void> {
  const { message } = (await findBurn(db, burnId)) ?? {}
  if (!message) throw notDone('The burn is not attested.')
  const decoded = bridgeOf(protocol).readMessage(message)
  if (decoded.expirationBlock === 0n) return
  const client = chains.byId(registry.get(to).chainId)
  if (!isExpired(decoded, await readContractBlock(client))) return
  const pauseMs = backoffMs(Context.current().info.attempt)
  throw stillWaiting('The message has expired and is attested anew.', pauseMs)
}
