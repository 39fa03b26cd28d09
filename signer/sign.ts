import { setTimeout as sleep } from 'node:timers/promises'
import { readBlock } from '../chains/read.js'
import {
  LEASES_IN_COMPANY,
  hasWorkToSign,
  readLanes,
  refuseOperation,
  returnOperation,
  takeOperations,
  type Lane,
  type Refusal,
} from '../db/lanes/signing.js'
import { ServiceError } from '../domain/errors.js'
import { MINTED, failureCodes } from '../domain/operation.js'
import { prepare, type NotPrepared, type Prepared } from './prepare.js'
import { BUNDLE_GAS, signAndStore, storeAgain, type Keyring, type Site } from './store.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
import type { Operation } from '../db/lanes/operations.js'
import type { PartLog } from '../log.js'

export type SignerTools = {
  db: Db
  chains: Chains
  registry: Registry
  keyring: Keyring
  log: PartLog
}

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
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(tools.chains.list.map((client) => signChain(tools, client, nextWork, signal)))
}

async function signChain(
  tools: SignerTools,
  client: ChainClient,
  nextWork: (timeoutMs: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const wake = nextWork(POLL_MS)
    try {
      const busy = await signOnce(tools, client)
      if (!busy) await wake
    } catch (error) {
      tools.log.warn({ err: error, chain: client.chain.name }, 'signer round failed')
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Serves every lane of a chain that has something to sign once. True when anything was taken. */
export async function signOnce(tools: SignerTools, client: ChainClient): Promise<boolean> {
  const { chainId } = client.chain
  if (!(await hasWorkToSign(tools.db, chainId))) return false
  const lanes = await readLanes(tools.db, chainId)
  const taken = await Promise.all(lanes.map((lane) => serveLane(tools, client, lane)))
  return taken.some((count) => count > 0)
}

async function serveLane(tools: SignerTools, client: ChainClient, lane: Lane): Promise<number> {
  const operations = await takeOperations(tools.db, lane, tools.keyring.taker)
  if (operations.length === 0) return 0
  try {
    await signTaken(tools, client, lane, operations)
  } catch (error) {
    tools.log.warn({ err: error, lane: lane.sender }, 'nothing was signed')
    await Promise.all(operations.map((operation) => giveBack(tools, operation, error)))
  }
  return operations.length
}

async function signTaken(
  tools: SignerTools,
  client: ChainClient,
  lane: Lane,
  taken: Operation[],
): Promise<void> {
  const site = await readSite(client, lane)
  const fresh = taken.filter(({ state }) => state === 'queued')
  const prepared = await prepareAll(tools, client, lane, site, fresh)
  for (const group of groupByTransaction(prepared)) await signGroup(tools, lane, site, group)
  const carriedAgain = taken.filter(({ state }) => state === 'signed')
  for (const operation of carriedAgain) await signAgain(tools, lane, site, operation)
}

/** What cannot be signed together is signed one by one, so that what is broken fails alone. */
async function signGroup(
  tools: SignerTools,
  lane: Lane,
  site: Site,
  group: Prepared[],
): Promise<void> {
  const { db, keyring, log } = tools
  try {
    const stored = await signAndStore(db, keyring, lane, site, group)
    if (stored) log.info({ chain: site.chain.name, lane: lane.sender, ...stored }, 'signed')
  } catch (error) {
    if (group.length > 1) {
      for (const one of group) await signGroup(tools, lane, site, [one])
      return
    }
    log.warn({ err: error, lane: lane.sender }, 'not signed')
    for (const { operation } of group) await giveBack(tools, operation, error)
  }
}

async function signAgain(tools: SignerTools, lane: Lane, site: Site, operation: Operation) {
  const { db, keyring, log } = tools
  const stored = await storeAgain(db, keyring, lane, site, operation)
  if (stored) log.error({ chain: site.chain.name, ...stored }, 'carrier was lost, signed again')
}

async function readSite(client: ChainClient, lane: Lane): Promise<Site> {
  const { chain } = client
  const [block, count, balance] = await Promise.all([
    readBlock(client, 'latest'),
    client.send<string>('eth_getTransactionCount', [lane.sender, 'latest']),
    client.send<string>('eth_getBalance', [lane.sender, 'latest']),
  ])
  if (!block) throw new ServiceError('RPC_ERROR', `${chain.name} has no latest block.`)
  const tipWei = chain.priorityFeeWei
  const feeWei = 2n * block.baseFeeWei + tipWei
  if (feeWei > chain.maxFeeCapWei) {
    throw new ServiceError('RPC_ERROR', `Gas on ${chain.name} costs more than the cap allows.`)
  }
  const usedNonces = BigInt(count)
  return { chain, head: block.number, feeWei, tipWei, usedNonces, balanceWei: BigInt(balance) }
}

/** Prepares operations side by side; writes the refusals and returns what may be signed. */
async function prepareAll(
  tools: SignerTools,
  client: ChainClient,
  lane: Lane,
  site: Site,
  operations: Operation[],
): Promise<Prepared[]> {
  const results = await Promise.all(
    operations.map(async (operation) => {
      try {
        return await prepareOne(tools, client, lane, site, operation)
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
  client: ChainClient,
  lane: Lane,
  site: Site,
  operation: Operation,
): Promise<Prepared | undefined> {
  const { db, keyring, registry } = tools
  if (operation.lostLeases >= LOST_LEASES) {
    const message = 'It was taken five times without a verdict.'
    const refusal = deferral('INTERNAL', message, QUARANTINE_MS)
    // After the hour it gets another chance, still alone.
    await refuse(tools, operation, { ...refusal, lostLeases: LEASES_IN_COMPANY })
    tools.log.error({ operation: operation.id }, 'operation in quarantine')
    return undefined
  }
  if (site.head < operation.minBlock) {
    throw new ServiceError('RPC_ERROR', `The node of ${site.chain.name} is behind.`)
  }
  const accounts = { treasury: keyring.treasury.address, lane: lane.sender }
  const at = { db, client, registry, ...accounts, block: site.head }
  const timer = new AbortController()
  const late = sleep(PREPARE_MS, undefined, { signal: timer.signal }).catch(() => undefined)
  const result = await Promise.race([prepare(at, operation), late]).finally(() => {
    timer.abort()
  })
  if (!result) throw new ServiceError('RPC_ERROR', `${site.chain.name} answers too slowly.`)
  if (result.kind !== 'spent' && result.kind !== 'refused') return result
  await writeNotPrepared(tools, site, result)
  return undefined
}

async function writeNotPrepared(tools: SignerTools, site: Site, result: NotPrepared) {
  const { operation } = result
  if (result.kind === 'spent' && operation.kind === 'mint') {
    const message = 'Somebody has minted it already, its log is looked up.'
    await refuse(tools, operation, deferral(MINTED, message, RETRY_MS))
    return
  }
  if (result.kind === 'spent') {
    tools.log.warn({ operation: operation.id }, 'executed already, its log is awaited')
    await returnOperation(tools.db, operation.id, tools.keyring.taker, 5 * RETRY_MS)
    return
  }
  // One refusal may be an effect that this node has not seen yet: only a later block makes it final.
  const again = operation.refusedBlock !== null && operation.refusedBlock < site.head
  // What was burned comes out: a mint is tried for ever, with a message that is attested anew.
  const isOver = again && operation.kind !== 'mint'
  await refuse(tools, operation, {
    state: isOver ? 'rejected' : 'deferred',
    code: failureCodes[operation.kind],
    message: `The call would fail: ${result.reason}`,
    retryAfterMs: RETRY_MS,
    refusedBlock: operation.refusedBlock ?? site.head,
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
    await returnOperation(tools.db, operation.id, tools.keyring.taker, RETRY_MS)
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

function refuse({ db, keyring }: SignerTools, { id }: Operation, refusal: Refusal): Promise<void> {
  return refuseOperation(db, id, keyring.taker, refusal)
}
