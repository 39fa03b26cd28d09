import { Context } from '@temporalio/activity'
import { faultPoint } from '../runtime/faultPoints.js'
import { readContractBlock } from '../evm/read.js'
import { markAwaited } from '../operations/awaited.js'
import { findBurn, insertBurn } from '../operations/burns.js'
import { hasEnded, setDelay, setRecovery } from '../db/intents/status.js'
import { findOperation, type Operation } from '../operations/operations.js'
import { assetText } from '../domain/money.js'
import { isUnsettled, type WaitReason, type Unsettled } from '../domain/intent/waitReason.js'
import { slowTransferMessage } from '../domain/intent/slowTransfer.js'
import { isExpired } from '../evm/bridges/bridge.js'
import { bridgeOf } from '../evm/bridges/bridges.js'
import { outcomeOf } from '../operations/outcome.js'
import { operationId } from '../operations/operationId.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import {
  findBurning,
  giveUp,
  laterIn,
  latenessOf,
  sinceOf,
  storeDelay,
  usualSeconds,
  whereabouts,
  type Burning,
} from './lateness.js'
import { waitInSlot } from './slot.js'
import { findWaitReason } from './waitReasons.js'
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
 * workflow continues the wait. Burned money is never abandoned: a late burn sets the delay of its intent, which lasts
 * until the mint. A burn older than `bridgeGiveUpMs` marks the intent as failed, and the wait continues.
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
  if (eventNonce) return { nonce: eventNonce }
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

function waitReasonOf(tools: Tools, step: BridgeStep, burning: Burning): WaitReason {
  const isLate = latenessOf(tools, step, burning) !== 'inTime'
  const waitReason = { code: 'ATTESTATION', since: sinceOf(burning) } as const
  if (isLate) return { ...waitReason, message: whereabouts(step, burning) }
  const [least, most] = usualSeconds(tools, step, burning)
  const { delayReason } = burning.burn
  const slow = delayReason ? `${slowTransferMessage(delayReason)} ` : ''
  const message = `${slow}It usually takes ${least} to ${most} seconds.`
  return { ...waitReason, message, isUsual: true }
}

/** A burn and its operation. A burn that failed on the chain ends the step, because the money has not left. */
async function readBurning(db: Db, id: string): Promise<Burning> {
  const burning = await findBurning(db, id)
  if (!burning || burning.row.state === 'deferred') throw notDone('The burn is missing.')
  const outcome = outcomeOf(burning.row)
  if (outcome.kind === 'failed') throw finalFailure('BRIDGE_FAILED', outcome.message)
  return burning
}

/**
 * Mints the burned money on the other chain, also when the intent has already failed. Until the mint is confirmed a late
 * burn sets the delay of its intent, and one that is too late marks it as failed, as while it awaits its attestation.
 */
export async function mint(
  tools: Tools,
  input: StepInput<BridgeStep> & { nonce: string | undefined },
): Promise<StepResult | Unsettled> {
  const { intentId, accountId, walletId, step, shown } = input
  const { sequence, asset, to } = step
  const { chainId } = tools.registry.get(to)
  const known = await findOperation(tools.db, operationId(intentId, sequence, 'mint'))
  const burnId = operationId(intentId, sequence, 'bridge')
  const burning = await findBurning(tools.db, burnId)
  if (burning && (await reportLateMint(tools, input, { burning, known }))) {
    return failedMeanwhile(tools, known)
  }
  if (!known || known.state === 'deferred') await waitWhileExpired(tools, burnId, step)
  if (!burning?.burn.eventNonce) throw notDone('The burn has no attestation.')
  await assertFed(tools, input)
  const order = { intentId, sequence, kind: 'mint', accountId, walletId, chainId } as const
  const result = await runStep(tools, { order, deadlineMs: Infinity, shown })
  if (isUnsettled(result)) return untilLater(tools, step, { burning, result })
  const { txHash } = result
  const arrived = assetText(BigInt(result.units))
  await setDelay(tools.db, intentId, null)
  await setRecovery(tools.db, intentId, { txHash, chain: to, asset, amount: arrived })
  return completeIfLast(tools, input, result)
}

/** Reports a late mint. True when this call has marked the intent as failed. */
async function reportLateMint(
  tools: Tools,
  input: StepInput<BridgeStep>,
  { burning, known }: { burning: Burning; known: Operation | undefined },
): Promise<boolean> {
  const isDone = known && outcomeOf(known).kind === 'done'
  if (isDone || outcomeOf(burning.row).kind === 'failed') return false
  const lateness = latenessOf(tools, input.step, burning)
  if (lateness !== 'inTime') await storeDelay(tools, input, burning)
  if (lateness !== 'tooLate' || (await hasEnded(tools.db, input.intentId))) return false
  await giveUp(tools, input, burning)
  return true
}

/** Shows the failure of the intent once. The mint continues at once. */
async function failedMeanwhile({ db }: Tools, known: Operation | undefined): Promise<Unsettled> {
  const service = { code: 'SERVICE', message: 'The mint is late.' } as const
  const found = known && (await findWaitReason(db, known))
  const waitsFor = found ?? { ...service, since: new Date().toISOString() }
  return { settled: false, waitsFor: { ...waitsFor, failure: 'BRIDGE_TIMEOUT' }, againMs: RETRY_MS }
}

/** The same wait, until the lateness of the mint changes at the latest. */
function untilLater(
  tools: Tools,
  step: BridgeStep,
  { burning, result }: { burning: Burning; result: Unsettled },
): Unsettled {
  const againMs = Math.min(result.againMs ?? Infinity, laterIn(tools, step, burning) ?? Infinity)
  return againMs === Infinity ? result : { ...result, againMs }
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
