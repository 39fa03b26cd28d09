import { setTimeout as sleep } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import { decodeCctpMessage } from '../protocols/bridges/cctp/message.js'
import { readBlock } from '../chains/read.js'
import {
  findBurn,
  findClaimedNonces,
  insertBurn,
  setAttested,
  type Burn,
} from '../db/lanes/burns.js'
import { setDelay, setRecovery } from '../db/intents/status.js'
import { findOperation, type Operation } from '../db/lanes/operations.js'
import { ServiceError } from '../domain/errors.js'
import { assetText } from '../domain/money.js'
import { isSameMessage } from '../protocols/bridges/cctp/contracts.js'
import { outcomeOf } from '../lanes/outcome.js'
import { operationId } from '../lanes/operationId.js'
import { finalFailure, stillWaiting } from './failures.js'
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
import type { BridgeStep } from '../domain/intent.js'

/** Shortest and longest pause of an attempt between two questions, and between two attempts. */
const polls = [50, 5_000] as const
const retries = [1_000, 15 * 60_000] as const
/** Questions within the shortest usual time. An attestation takes seconds or a quarter of an hour. */
const QUESTIONS = 20
/** A new attestation is there at once, if the service does what it is asked for. */
const renewals = [250, 15_000] as const
/** Twice the usual time: an attestation that takes longer is late. */
const PATIENCE = 2

/** Burns the wallet's USDC in favour of the same wallet on another chain. */
export async function bridge(tools: Tools, input: StepInput<BridgeStep>): Promise<StepResult> {
  const { intentId, accountId, walletId, step, deadlineMs } = input
  failIfSimulated(input)
  const source = tools.registry.get(step.from)
  const { chainId: destinationChainId } = tools.registry.get(step.to)
  const { sequence } = step
  const { chainId } = source
  const units = await readSpending(tools, input)
  return runStep(tools, {
    order: { intentId, sequence, kind: 'bridge', accountId, walletId, chainId, input: { units } },
    deadlineMs,
    open: (trx, id) =>
      insertBurn(trx, { operationId: id, sourceDomain: source.cctp.domain, destinationChainId }),
  })
}

/**
 * Waits for the message of a burn, for as long as it takes, and stores it. What was burned is never given
 * up: when it is late the intent says so, when it is far too late the intent is marked as failed, and
 * the wait goes on.
 *
 * @returns The nonce of the message.
 */
export async function awaitAttestation(
  tools: Tools,
  input: StepInput<BridgeStep>,
): Promise<{ nonce: string }> {
  const id = operationId(input.intentId, input.step.sequence, 'bridge')
  if (input.simulate === 'BRIDGE_TIMEOUT') await giveUp(tools, input, await readBurning(tools, id))
  return whileBeating(tools, async (signal) => {
    let told: Lateness = 'inTime'
    for (;;) {
      const burning = await readBurning(tools, id)
      // What was attested stays: after a reorg the burn may get another message, but a mint has the first.
      const nonce = burning.burn.eventNonce ?? (await attest(tools, burning).catch(unlessSilent))
      if (nonce) {
        await setDelay(tools.db, input.intentId, null)
        return { nonce }
      }
      const lateness = latenessOf(tools, input.step, burning)
      // What was told stays: it is not written again at each question.
      if (lateness !== told && lateness !== 'inTime') await tellDelay(tools, input, burning)
      if (lateness !== told && lateness === 'tooLate') await giveUp(tools, input, burning)
      told = lateness
      if (signal.aborted) {
        throw stillWaiting('The burn waits to be attested.', within(ageOf(burning) / 4, retries))
      }
      await sleep(pollDelay(tools, input, burning), undefined, { signal }).catch(() => undefined)
    }
  })
}

/** A service that is silent is asked again, and its silence counts as waiting. */
function unlessSilent(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'NETWORK_ERROR') return undefined
  throw error
}

type Burning = { row: Operation; burn: Burn }

/** Milliseconds since the burn was first seen in a block. */
const ageOf = ({ burn: { burnedAt } }: Burning) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

function pollDelay({ registry }: Tools, { step }: StepInput<BridgeStep>, burning: Burning): number {
  const [leastSeconds] = registry.get(step.from).cctp.seconds[step.speed]
  return within(Math.max(ageOf(burning) / 10, (leastSeconds * 1_000) / QUESTIONS), polls)
}

const within = (ms: number, [least, most]: readonly [number, number]) =>
  Math.min(Math.max(ms, least), most)

/** A burn and its operation. One that failed on the chain ends the step: the money has not left. */
async function readBurning({ db }: Tools, id: string): Promise<Burning> {
  const [row, burn] = await Promise.all([findOperation(db, id), findBurn(db, id)])
  if (!row || !burn) throw new Error(`There is no burn ${id}.`)
  const outcome = outcomeOf(row)
  if (outcome.kind === 'failed') throw finalFailure('BRIDGE_FAILED', outcome.message)
  return { row, burn }
}

/** The nonce of the burn's message once it is attested, and stored. */
async function attest(
  { db, attestations }: Tools,
  { row: { id, txHash, state }, burn }: Burning,
): Promise<string | undefined> {
  const { sent } = burn
  // Its block may have vanished: then it is mined again, maybe in another transaction.
  if (!sent || !txHash || (state !== 'confirmed' && state !== 'final')) return undefined
  const messages = await attestations.readMessages(burn.sourceDomain, txHash)
  const found = messages.flatMap(({ message, attestation }) => {
    if (!message || !attestation || !isSameMessage(sent, message)) return []
    return [{ eventNonce: decodeCctpMessage(message).nonce, message, attestation }]
  })
  // Two burns of one transaction may be alike: each has a message of its own.
  const nonces = found.map(({ eventNonce }) => eventNonce)
  const claimed = await findClaimedNonces(db, burn, nonces)
  // What was told once stays, a mint of it may be on its way; unless the burn is in another transaction now.
  const isKnown = messages.some(({ eventNonce }) => eventNonce.toLowerCase() === burn.eventNonce)
  const own = found.find(({ eventNonce }) =>
    isKnown ? eventNonce === burn.eventNonce : !claimed.includes(eventNonce),
  )
  if (own) await setAttested(db, id, own)
  return own?.eventNonce
}

/** Too late: the intent is marked as failed. */
type Lateness = 'inTime' | 'late' | 'tooLate'

function latenessOf(
  { registry, bridgeGiveUpMs }: Tools,
  { from, speed }: BridgeStep,
  burning: Burning,
): Lateness {
  const [, usualSeconds] = registry.get(from).cctp.seconds[speed]
  const ageMs = ageOf(burning)
  if (ageMs < usualSeconds * PATIENCE * 1_000) return 'inTime'
  return ageMs < bridgeGiveUpMs ? 'late' : 'tooLate'
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
  const { intentId, accountId, walletId, step } = input
  const { sequence, asset, to } = step
  const { chainId } = tools.registry.get(to)
  const known = await findOperation(tools.db, operationId(intentId, sequence, 'mint'))
  const burnId = operationId(intentId, sequence, 'bridge')
  if (!known || known.state === 'deferred') await renewWhenExpired(tools, burnId, to)
  const nonce = (await findBurn(tools.db, burnId))?.eventNonce ?? input.nonce
  const units = await readSpending(tools, input)
  const order = { intentId, sequence, kind: 'mint', accountId, walletId, chainId, nonce } as const
  const result = await runStep(tools, {
    order: { ...order, input: { units } },
    deadlineMs: Infinity,
  })
  const { txHash } = result
  const arrived = assetText(BigInt(result.units))
  await setRecovery(tools.db, intentId, { txHash, chain: to, asset, amount: arrived })
  return result
}

/** A fast message expires. It is attested anew, with the same nonce. */
async function renewWhenExpired(tools: Tools, burnId: string, to: string): Promise<void> {
  const { chains, registry, attestations } = tools
  const known = await readBurning(tools, burnId)
  if (!mayExpire(known)) return
  const head = await readBlock(chains.byId(registry.get(to).chainId), 'latest')
  if (!head || !isExpired(known, head.number)) return
  const nonce = await attest(tools, known)
  if (!nonce || !isExpired(await readBurning(tools, burnId), head.number)) return
  await attestations.reattest(nonce)
  const pauseMs = within(renewals[0] * Context.current().info.attempt ** 2, renewals)
  throw stillWaiting('The message has expired and is attested anew.', pauseMs)
}

const expirationOf = ({ burn: { message } }: Burning) =>
  message ? decodeCctpMessage(message).expirationBlock : 0n
const mayExpire = (burning: Burning) => expirationOf(burning) !== 0n
const isExpired = (burning: Burning, head: bigint) =>
  mayExpire(burning) && head >= expirationOf(burning)
