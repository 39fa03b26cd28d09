import { Context } from '@temporalio/activity'
import { faultPoint } from '../runtime/faultPoints.js'
import { readContractBlock } from '../evm/read.js'
import { markAwaited } from '../operations/awaited.js'
import { findBurn, insertBurn, type Burn } from '../operations/burns.js'
import { setDelay, setRecovery } from '../db/intents/status.js'
import { findOperation, type Operation } from '../operations/operations.js'
import { assetText } from '../domain/money.js'
import { isUnsettled, type WaitReason, type Unsettled } from '../domain/intent/waitReason.js'
import { isExpired } from '../evm/bridges/bridge.js'
import { bridgeOf } from '../evm/bridges/bridges.js'
import { outcomeOf } from '../operations/outcome.js'
import { operationId } from '../operations/operationId.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import { waitInSlot } from './slot.js'
import { finalizeIntent } from './status.js'
import {
  assertFed,
  completeIfLast,
  failIfSimulated,
  runStep,
  type StepInput,
  type StepResult,
  type Tools,
} from './step.js'
import { backoffMs, RETRY_MS } from '../runtime/durations.js'
import type { Db } from '../db/client/connect.js'
import type { BridgeStep } from '../domain/intent/intent.js'

/** An attestation is late after this multiple of its usual time. */
const PATIENCE = 2

/** Burns USDC of the wallet. The message names the same wallet on another chain as recipient. */
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
  await assertFed(tools, input)
  return runStep(tools, {
    order: { intentId, sequence, kind: 'bridge', accountId, walletId, chainId },
    deadlineMs,
    shown,
    open: (trx, id) => insertBurn(trx, { operationId: id, sourceDomain, destinationChainId }),
  })
}

/**
 * Waits until the relayer has stored the attested message of a burn. The activity waits for at most a minute, and the
 * workflow continues the wait. Burned money is never abandoned: a late burn sets the delay of its intent. A burn
 * older than `bridgeGiveUpMs` marks the intent as failed, and the wait continues.
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
  // The nonce is kept after a reorg. The burn may then get another message, but a mint may already use the first one.
  const { eventNonce } = burning.burn
  if (eventNonce) {
    await setDelay(db, intentId, null)
    return { nonce: eventNonce }
  }
  const lateness = latenessOf(tools, step, burning)
  if (lateness !== 'inTime') await storeDelay(tools, input, burning)
  if (lateness === 'tooLate') await giveUp(tools, input, burning)
  if (stopping.aborted) throw stillWaiting('The burn awaits its attestation.', RETRY_MS)
  faultPoint('activity: before the wait is marked')
  if (!(await markAwaited(db, id, 'attestation'))) {
    throw stillWaiting('The burn is attested.', RETRY_MS)
  }
  faultPoint('activity: before it returns unsettled')
  const againMs = laterIn(tools, step, burning)
  const waitsFor = waitReasonOf(tools, step, burning)
  const failure = isSimulated || lateness === 'tooLate' ? { failure: 'BRIDGE_TIMEOUT' } : {}
  return { settled: false, waitsFor: { ...waitsFor, ...failure }, ...(againMs && { againMs }) }
}

/** Returns the burn as soon as it is attested or late, after a minute at the latest. */
async function awaitMessage(tools: Tools, step: BridgeStep, first: Burning): Promise<Burning> {
  const { db, outcomes, stopping } = tools
  const { id } = first.row
  if (first.burn.eventNonce || latenessOf(tools, step, first) !== 'inTime') return first
  return waitInSlot({ stopping, forMs: laterIn(tools, step, first) }, async (signal) => {
    for (;;) {
      // Subscribe before the read, so that a message stored between the two ends the wait.
      const change = outcomes.nextChange(id, signal, 'attestation')
      const burning = await readBurning(db, id)
      if (burning.burn.eventNonce || signal.aborted) return burning
      await change
    }
  })
}

/** Stores since when the money is late and where it is. */
async function storeDelay(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const funds = [{ chain: 'bridge', asset: step.asset, amount: step.amount }]
  const since = sinceOf(burning)
  const message = whereabouts(step, burning)
  await setDelay(db, intentId, { code: 'BRIDGE_TIMEOUT', since, message, funds })
}

/** Marks the intent as failed. The wait for the burned money continues. */
async function giveUp(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const message = whereabouts(step, burning)
  const failure = { code: 'BRIDGE_TIMEOUT', message, step: step.sequence }
  await finalizeIntent(db, { intentId, failure })
}

function waitReasonOf(tools: Tools, step: BridgeStep, burning: Burning): WaitReason {
  const isLate = latenessOf(tools, step, burning) !== 'inTime'
  const waitReason = { code: 'ATTESTATION', since: sinceOf(burning) } as const
  if (isLate) return { ...waitReason, message: whereabouts(step, burning) }
  const [least, most] = usualSeconds(tools, step)
  return { ...waitReason, message: `It usually takes ${least} to ${most} seconds.`, isUsual: true }
}

const usualSeconds = ({ registry }: Tools, { protocol, from, speed }: BridgeStep) =>
  bridgeOf(protocol).usualSeconds(registry.get(from), speed)

type Burning = { row: Operation; burn: Burn }

/** Milliseconds since the burn was first seen in a block. */
const ageOf = ({ burn: { burnedAt } }: Burning) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

const sinceOf = (burning: Burning) => new Date(Date.now() - ageOf(burning)).toISOString()

/** A burn and its operation. A burn that failed on the chain ends the step, because the money has not left. */
async function readBurning(db: Db, id: string): Promise<Burning> {
  const [row, burn] = await Promise.all([findOperation(db, id), findBurn(db, id)])
  if (!row || !burn || row.state === 'deferred') throw notDone('The burn is missing.')
  const outcome = outcomeOf(row)
  if (outcome.kind === 'failed') throw finalFailure('BRIDGE_FAILED', outcome.message)
  return { row, burn }
}

/** A burn that is `tooLate` marks its intent as failed. */
type Lateness = 'inTime' | 'late' | 'tooLate'

function latenessOf(tools: Tools, step: BridgeStep, burning: Burning): Lateness {
  const [, mostSeconds] = usualSeconds(tools, step)
  const ageMs = ageOf(burning)
  if (ageMs < mostSeconds * PATIENCE * 1_000) return 'inTime'
  return ageMs < tools.bridgeGiveUpMs ? 'late' : 'tooLate'
}

/** Milliseconds until the lateness changes; undefined when the burn is too late already. */
function laterIn(tools: Tools, step: BridgeStep, burning: Burning): number | undefined {
  const [, mostSeconds] = usualSeconds(tools, step)
  const ageMs = ageOf(burning)
  const next = [mostSeconds * PATIENCE * 1_000, tools.bridgeGiveUpMs].find((ms) => ageMs < ms)
  // Timers may fire a millisecond early.
  return next === undefined ? undefined : next - ageMs + 1
}

const whereabouts = ({ amount, asset, from, to }: BridgeStep, { row: { txHash } }: Burning) =>
  `${amount} ${asset} was burned on ${from} in ${txHash} and awaits its attestation. It arrives on ${to} without further action.`

/** Mints the burned money on the other chain, also when the intent has already failed. */
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
  const isAttested = (await findBurn(tools.db, burnId))?.eventNonce
  if (!isAttested) throw notDone('The burn has no attestation.')
  await assertFed(tools, input)
  const order = { intentId, sequence, kind: 'mint', accountId, walletId, chainId } as const
  const result = await runStep(tools, { order, deadlineMs: Infinity, shown })
  if (isUnsettled(result)) return result
  const { txHash } = result
  const arrived = assetText(BigInt(result.units))
  await setRecovery(tools.db, intentId, { txHash, chain: to, asset, amount: arrived })
  return completeIfLast(tools, input, result)
}

/** Fast messages expire. The relayer requests a new attestation, which has the same nonce. */
async function waitWhileExpired(
  { db, chains, registry }: Tools,
  burnId: string,
  { protocol, to }: BridgeStep,
): Promise<void> {
  const { message } = (await findBurn(db, burnId)) ?? {}
  if (!message) throw notDone('The burn has no attestation.')
  const decoded = bridgeOf(protocol).readMessage(message)
  if (decoded.expirationBlock === 0n) return
  const client = chains.byId(registry.get(to).chainId)
  if (!isExpired(decoded, await readContractBlock(client))) return
  const pauseMs = backoffMs(Context.current().info.attempt)
  throw stillWaiting(
    'The message has expired. The relayer has requested a new attestation.',
    pauseMs,
  )
}
