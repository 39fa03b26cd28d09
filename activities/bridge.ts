import { Context } from '@temporalio/activity'
import { readContractBlock } from '../chains/read.js'
import { findBurn, insertBurn, type Burn } from '../db/lanes/burns.js'
import { setDelay, setRecovery } from '../db/intents/status.js'
import { findOperation, type Operation } from '../db/lanes/operations.js'
import { assetText } from '../domain/money.js'
import { isExpired } from '../protocols/bridges/bridge.js'
import { bridgeOf } from '../protocols/bridges/bridges.js'
import { outcomeOf } from '../lanes/outcome.js'
import { operationId } from '../lanes/operationId.js'
import { orAfter } from '../lanes/operations.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import { createTeller } from './holds.js'
import { attemptMs, park, parkedPause } from './parking.js'
import { finalizeIntent } from './status.js'
import {
  failIfSimulated,
  readSpending,
  runStep,
  whileBeating,
  type StepInput,
  type StepResult,
  type Tools,
} from './step.js'
import type { Hold } from '../domain/hold.js'
import type { BridgeStep } from '../domain/intent.js'

/** Shortest and longest pause between two attempts to wait, and between two looks at a message that has expired. */
const retries = [1_000, 15 * 60_000] as const
const renewals = [250, 15_000] as const
/** Far above what an attempt lasts, and below what Node's timers take. */
const LONGEST_TIMER_MS = 24 * 3_600_000
/** Twice the usual time: an attestation that takes longer is late. */
const PATIENCE = 2

/** From when on the attestation of a burn is waited for (ISO 8601), and how long that usually takes. */
export type Expected = { since: string; usualSeconds: [least: number, most: number] }

/** Burns the wallet's USDC in favour of the same wallet on another chain. */
export async function bridge(
  tools: Tools,
  input: StepInput<BridgeStep>,
): Promise<StepResult & { attestation: Expected }> {
  const { intentId, accountId, walletId, step, deadlineMs } = input
  failIfSimulated(input)
  const source = tools.registry.get(step.from)
  const { chainId: destinationChainId } = tools.registry.get(step.to)
  const { sequence } = step
  const { chainId } = source
  const sourceDomain = bridgeOf(step.protocol).domainOf(source)
  const units = await readSpending(tools, input)
  const result = await runStep(tools, {
    order: { intentId, sequence, kind: 'bridge', accountId, walletId, chainId, input: { units } },
    deadlineMs,
    open: (trx, id) => insertBurn(trx, { operationId: id, sourceDomain, destinationChainId }),
  })
  const burn = await findBurn(tools.db, operationId(intentId, sequence, 'bridge'))
  const since = (burn?.burnedAt ?? new Date()).toISOString()
  return { ...result, attestation: { since, usualSeconds: usualSeconds(tools, step) } }
}

const usualSeconds = ({ registry }: Tools, { protocol, from, speed }: BridgeStep) =>
  bridgeOf(protocol).usualSeconds(registry.get(from), speed)

/**
 * Waits until the lanes have got the message of a burn, for as long as it takes. What was burned is never
 * given up: when it is late the intent says so, when it is far too late the intent is marked as failed,
 * and the wait goes on.
 *
 * @returns The nonce of the message.
 */
export async function awaitAttestation(
  tools: Tools,
  input: StepInput<BridgeStep>,
): Promise<{ nonce: string }> {
  const { db, outcomes } = tools
  const id = operationId(input.intentId, input.step.sequence, 'bridge')
  const teller = createTeller()
  const beat = () => {
    teller.beat()
  }
  if (input.simulate === 'BRIDGE_TIMEOUT') {
    const burning = await readBurning(tools, id)
    await giveUp(tools, input, burning)
    await teller.tell(lateHold(input.step, burning, 'tooLate'))
  }
  const wait = async (signal: AbortSignal) => {
    let told: Lateness = 'inTime'
    for (;;) {
      const change = outcomes.nextChange(id, signal)
      const burning = await readBurning(tools, id)
      // What was attested stays: after a reorg the burn may get another message, but a mint has the first.
      const nonce = burning.burn.eventNonce
      if (nonce) {
        await setDelay(db, input.intentId, null)
        return { nonce }
      }
      const lateness = latenessOf(tools, input.step, burning)
      // What was told stays: it is not written again at each look.
      if (lateness !== told && lateness !== 'inTime') await tellDelay(tools, input, burning)
      if (lateness !== told && lateness === 'tooLate') await giveUp(tools, input, burning)
      const tellAgainMs =
        lateness === 'inTime'
          ? undefined
          : await teller.tell(lateHold(input.step, burning, lateness))
      told = lateness
      const leastMs = tellAgainMs ?? laterIn(tools, input.step, burning)
      if (!signal.aborted) {
        await orAfter(change, leastMs)
        continue
      }
      await parkWhileUnattested(tools, id, leastMs)
    }
  }
  const waitedMs = Date.now() - Context.current().info.scheduledTimestampMs
  return whileBeating({ ...tools, attemptMs: attemptMs(waitedMs) }, wait, beat)
}

/** Gives back the slot of a step that waits on. Returns when the message came before anybody could notice. */
async function parkWhileUnattested(tools: Tools, id: string, leastMs?: number): Promise<void> {
  const isParked = await park(tools, id)
  const burning = await readBurning(tools, id)
  if (isParked && burning.burn.eventNonce) return
  const ageMs = ageOf(burning)
  const pauseMs = isParked ? parkedPause(leastMs) : within(ageMs / 4, retries)
  throw stillWaiting('The burn waits to be attested.', pauseMs)
}

/** What an operator is told of money that is late. */
function lateHold(step: BridgeStep, burning: Burning, lateness: Lateness): Hold {
  const since = new Date(Date.now() - ageOf(burning)).toISOString()
  const hold = { code: 'ATTESTATION' as const, message: whereabouts(step, burning), since }
  return lateness === 'tooLate' ? { ...hold, failure: 'BRIDGE_TIMEOUT' } : hold
}

type Burning = { row: Operation; burn: Burn }

/** Milliseconds since the burn was first seen in a block. */
const ageOf = ({ burn: { burnedAt } }: Burning) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

const within = (ms: number, [least, most]: readonly [number, number]) =>
  Math.min(Math.max(ms, least), most)

/** A burn and its operation. One that failed on the chain ends the step: the money has not left. */
async function readBurning({ db }: Tools, id: string): Promise<Burning> {
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
  return next === undefined ? undefined : Math.min(next - ageMs, LONGEST_TIMER_MS)
}

/** Says that the money is late, and where it is. */
async function tellDelay(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const { asset, amount } = step
  const since = new Date(Date.now() - ageOf(burning)).toISOString()
  const funds = [{ chain: 'bridge', asset, amount }]
  const message = whereabouts(step, burning)
  await setDelay(db, intentId, { code: 'BRIDGE_TIMEOUT', since, message, funds })
}

const whereabouts = ({ amount, asset, from, to }: BridgeStep, { row: { txHash } }: Burning) =>
  `${amount} ${asset} was burned on ${from} in ${txHash} and waits to be attested. It arrives on ${to} by itself.`

/** Marks the intent as failed. The wait for what was burned goes on. */
async function giveUp(
  { db }: Pick<Tools, 'db'>,
  { intentId, step }: Pick<StepInput<BridgeStep>, 'intentId' | 'step'>,
  burning: Burning,
): Promise<void> {
  const message = whereabouts(step, burning)
  const failure = { code: 'BRIDGE_TIMEOUT', message, step: step.sequence }
  await finalizeIntent(db, { intentId, failure })
}

/** Brings the burned money out on the other chain, whatever has become of its intent. */
export async function mint(
  tools: Tools,
  input: StepInput<BridgeStep> & { nonce: string },
): Promise<StepResult> {
  const { intentId, accountId, walletId, step, isLast } = input
  const { sequence, asset, to } = step
  const { chainId } = tools.registry.get(to)
  const known = await findOperation(tools.db, operationId(intentId, sequence, 'mint'))
  const burnId = operationId(intentId, sequence, 'bridge')
  if (!known || known.state === 'deferred') await waitWhileExpired(tools, burnId, step)
  const nonce = (await findBurn(tools.db, burnId))?.eventNonce ?? input.nonce
  const units = await readSpending(tools, input)
  const order = { intentId, sequence, kind: 'mint', accountId, walletId, chainId, nonce } as const
  const result = await runStep(tools, {
    order: { ...order, input: { units } },
    deadlineMs: Infinity,
    isLast,
  })
  const { txHash } = result
  const arrived = assetText(BigInt(result.units))
  await setRecovery(tools.db, intentId, { txHash, chain: to, asset, amount: arrived })
  return result
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
  const pauseMs = within(renewals[0] * Context.current().info.attempt ** 2, renewals)
  throw stillWaiting('The message has expired and is attested anew.', pauseMs)
}
