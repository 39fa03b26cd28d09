import { setDelay } from '../db/intents/status.js'
import { bridgeOf } from '../evm/bridges/bridges.js'
import { findBurn, type Burn } from '../operations/burns.js'
import { findOperation, type Operation } from '../operations/operations.js'
import { finalizeIntent } from './status.js'
import type { Db } from '../db/client/connect.js'
import type { BridgeStep } from '../domain/intent/intent.js'
import type { StepInput, Tools } from './step.js'

/** An attestation or a mint is late after this multiple of its usual time since the burn. */
const PATIENCE = 2

/** A burn and its operation. */
export type Burning = { row: Operation; burn: Burn }

export async function findBurning(db: Db, id: string): Promise<Burning | undefined> {
  const [row, burn] = await Promise.all([findOperation(db, id), findBurn(db, id)])
  return row && burn && { row, burn }
}

/** Milliseconds since the burn was first seen in a block. */
const ageOf = ({ burn: { burnedAt } }: Burning) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

/** When the burn was first seen in a block, ISO 8601. */
export const sinceOf = (burning: Burning) => new Date(Date.now() - ageOf(burning)).toISOString()

/** Usual time from the burn to its attestation, seconds. The bridge may attest a fast transfer as a standard one. */
export const usualSeconds = (
  { registry }: Tools,
  { protocol, from, speed }: BridgeStep,
  { burn: { delayReason } }: Burning,
) => bridgeOf(protocol).usualSeconds(registry.get(from), delayReason ? 'standard' : speed)

/** Age at which the burn is late, ms. An attested one also has the time of its mint. */
function patienceMs(tools: Tools, step: BridgeStep, burning: Burning): number {
  const [, mostSeconds] = usualSeconds(tools, step, burning)
  const mintSeconds = burning.burn.eventNonce ? tools.registry.get(step.to).stepSeconds[1] : 0
  return (mostSeconds + mintSeconds) * PATIENCE * 1_000
}

/** A burn that is `tooLate` marks its intent as failed. */
type Lateness = 'inTime' | 'late' | 'tooLate'

export function latenessOf(tools: Tools, step: BridgeStep, burning: Burning): Lateness {
  const ageMs = ageOf(burning)
  if (ageMs < patienceMs(tools, step, burning)) return 'inTime'
  return ageMs < tools.bridgeGiveUpMs ? 'late' : 'tooLate'
}

/** Milliseconds until the lateness changes; undefined when the burn is too late already. */
export function laterIn(tools: Tools, step: BridgeStep, burning: Burning): number | undefined {
  const ageMs = ageOf(burning)
  const ages = [patienceMs(tools, step, burning), tools.bridgeGiveUpMs]
  const next = ages.find((ms) => ageMs < ms)
  // Timers may fire a millisecond early.
  return next === undefined ? undefined : next - ageMs + 1
}

/** Stores since when the money is late and where it is. */
export async function storeDelay(
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
export async function giveUp(
  { db }: Tools,
  { intentId, step }: StepInput<BridgeStep>,
  burning: Burning,
): Promise<void> {
  const message = whereabouts(step, burning)
  const failure = { code: 'BRIDGE_TIMEOUT', message, step: step.sequence }
  await finalizeIntent(db, { intentId, failure })
}

/** Where the money is, as a sentence. */
export function whereabouts(
  { amount, asset, from, to }: BridgeStep,
  { row: { txHash }, burn }: Burning,
): string {
  const awaited = burn.eventNonce ? 'its mint' : 'its attestation'
  return `${amount} ${asset} was burned on ${from} in ${txHash} and awaits ${awaited}. It arrives on ${to} without further action.`
}
