import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../crashPoints.js'
import {
  readLanes,
  refuseOperation,
  returnOperation,
  type Lane,
  type Refusal,
} from '../db/lanes/signing.js'
import { LEASES_IN_COMPANY, hasWorkToSign, takeOperations } from '../db/lanes/taking.js'
import { ServiceError } from '../domain/errors.js'
import { MINTED, failureCodes } from '../domain/operation.js'
import { prepare, type NotPrepared, type Prepared } from './prepare.js'
import { readRound, type Round, type SignerTools } from './round.js'
import { carryAgain, lookUp } from './carry.js'
import { readSpentSince } from './chainKey.js'
import { BUNDLE_GAS } from './genuine.js'
import { keepReplacing } from './replace.js'
import { signAndStore } from './store.js'
import { isRefusedElsewhere } from './secondOpinion.js'
import { disabledBecause, type ChainClient } from '../chains/connect.js'
import type { Operation } from '../db/lanes/operations.js'

/** Without an announcement the signer looks this often. */
const POLL_MS = 1_000
/** What is ready by then is signed, the rest goes back: one slow answer holds nobody up. */
const PREPARE_MS = 15_000
/** Wait after a failure of the node. */
const RETRY_MS = 2_000
/** Wait after a refusal that no later block will change. An operator has to look. */
const REFUSED_MS = 60_000
/** An operation whose leases keep ending without a verdict breaks its taker. */
const LOST_LEASES = 5
const QUARANTINE_MS = 3_600_000

/**
 * The signer's loops, one per chain, so that a chain that does not answer delays no other: take, check,
 * simulate, sign, store. They broadcast nothing.
 *
 * @param nextWork - Resolves when there may be work, at the latest after the given milliseconds.
 */
export async function runSigner(
  tools: SignerTools,
  nextWork: (timeoutMs: number) => Promise<void>,
  stopping: AbortSignal,
): Promise<void> {
  const signChain = async (client: ChainClient) => {
    while (!stopping.aborted) {
      const wake = nextWork(POLL_MS)
      try {
        const busy = await signOnce(tools, client)
        if (!busy) await wake
      } catch (error) {
        tools.log.warn({ err: error, chain: client.chain.name }, 'signer round failed')
        await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined)
      }
    }
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
  const { chainId } = client.chain
  // What is queued waits: a signature for a chain that is not what it should be is worth nothing.
  if (disabledBecause(client, 'chain')) return false
  if (!(await hasWorkToSign(tools.db, chainId))) return false
  const lanes = await readLanes(tools.db, chainId)
  const taken = await Promise.all(lanes.map((lane) => serveLane(tools, client, lane)))
  return taken.some((count) => count > 0)
}

async function serveLane(tools: SignerTools, client: ChainClient, lane: Lane): Promise<number> {
  const taken = await takeOperations(tools.db, lane, tools.keyring.taker)
  if (taken.length === 0) return 0
  crashPoint('signer: taken, not signed')
  try {
    await signTaken(tools, await readRound(client, lane), taken)
  } catch (error) {
    tools.log.warn({ err: error, lane: lane.sender }, 'nothing was signed')
    await Promise.all(taken.map((operation) => giveBack(tools, operation, error)))
  }
  return taken.length
}

async function signTaken(tools: SignerTools, round: Round, taken: Operation[]): Promise<void> {
  const fresh = taken.filter(({ state }) => state === 'queued')
  const prepared = await prepareAll(tools, round, fresh)
  for (const group of groupByTransaction(prepared)) await signGroup(tools, round, group)
  const carriedAgain = taken.filter(({ state }) => state === 'signed')
  for (const operation of carriedAgain) await carryAgain(tools, round, operation)
}

/** What cannot be signed together is signed one by one, so that what is broken fails alone. */
async function signGroup(tools: SignerTools, round: Round, group: Prepared[]): Promise<void> {
  const { client, lane } = round
  try {
    const stored = await signAndStore(tools, round, group)
    if (!stored) return
    tools.log.info({ chain: client.chain.name, lane: lane.sender, ...stored }, 'signed')
  } catch (error) {
    if (group.length > 1) {
      for (const one of group) await signGroup(tools, round, [one])
      return
    }
    tools.log.warn({ err: error, lane: lane.sender }, 'not signed')
    for (const { operation } of group) await giveBack(tools, operation, error)
  }
}

/** Prepares operations side by side; writes the refusals and returns what may be signed. */
async function prepareAll(
  tools: SignerTools,
  round: Round,
  operations: Operation[],
): Promise<Prepared[]> {
  const results = await Promise.all(
    operations.map(async (operation) => {
      try {
        return await prepareOne(tools, round, operation)
      } catch (error) {
        tools.log.warn({ err: error, operation: operation.id }, 'operation not prepared')
        await giveBack(tools, operation, error)
        return undefined
      }
    }),
  )
  return results.filter((result) => result !== undefined)
}

async function prepareOne(
  tools: SignerTools,
  round: Round,
  operation: Operation,
): Promise<Prepared | undefined> {
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
  const timer = new AbortController()
  const late = sleep(PREPARE_MS, undefined, { signal: timer.signal }).catch(() => undefined)
  const result = await Promise.race([prepare(tools, round, operation), late]).finally(() => {
    timer.abort()
  })
  if (!result) throw new ServiceError('RPC_ERROR', `${name} answers too slowly.`)
  if (result.kind !== 'spent' && result.kind !== 'refused') return result
  await writeNotPrepared(tools, round, result)
  return undefined
}

async function writeNotPrepared(tools: SignerTools, round: Round, result: NotPrepared) {
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
  const isOver = mayEnd && (await isRefusedElsewhere(tools, round, operation))
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

/** User operations share a transaction as far as its gas reaches; any other call has one of its own. */
function groupByTransaction(prepared: Prepared[]): Prepared[][] {
  const groups = prepared.filter(({ kind }) => kind !== 'userOperation').map((direct) => [direct])
  let bundle: Prepared[] | undefined
  let gas = 0n
  for (const one of prepared.filter(({ kind }) => kind === 'userOperation')) {
    if (!bundle || gas + one.gas > BUNDLE_GAS) {
      bundle = []
      groups.push(bundle)
      gas = 0n
    }
    bundle.push(one)
    gas += one.gas
  }
  return groups
}

const deferral = (code: string, message: string, retryAfterMs: number): Refusal => ({
  state: 'deferred',
  code,
  message,
  retryAfterMs,
})

/** Nothing was signed: a queued row says why, a signed one waits without changing its state. */
async function giveBack(tools: SignerTools, operation: Operation, error: unknown): Promise<void> {
  if (operation.state === 'signed') {
    await returnOperation(tools.db, takenBy(tools, operation), RETRY_MS)
    return
  }
  const known = error instanceof ServiceError ? error : undefined
  // A refusal by the policy or by a lane's state does not pass by itself.
  const retryAfterMs = known?.code === 'INTERNAL' ? REFUSED_MS : RETRY_MS
  const message = known?.message ?? 'Unexpected failure in the signer.'
  const refusal = deferral(known?.code ?? 'INTERNAL', message, retryAfterMs)
  await refuse(tools, operation, { ...refusal, ...keptRefusal(operation) })
}

const keptRefusal = ({ refusedBlock }: Operation) => (refusedBlock === null ? {} : { refusedBlock })

const takenBy = ({ keyring }: SignerTools, { id }: Operation) => ({ id, taker: keyring.taker })

function refuse(tools: SignerTools, operation: Operation, refusal: Refusal): Promise<void> {
  return refuseOperation(tools.db, takenBy(tools, operation), refusal)
}
