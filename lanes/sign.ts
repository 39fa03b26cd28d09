import { setTimeout as sleep } from 'node:timers/promises'
import { readBlock } from '../chains/read.js'
import {
  findChainsToSign,
  readLanes,
  refuseOperation,
  returnOperation,
  takeOperations,
  type Lane,
  type Refusal,
} from '../db/signing.js'
import { ServiceError } from '../domain/errors.js'
import { prepare, type NotPrepared, type Prepared } from './prepare.js'
import { signAndStore, storeAgain, type Keyring, type Site } from './store.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Db } from '../db/connect.js'
import type { Operation } from '../db/operations.js'

export type SignerTools = {
  db: Db
  chains: Chains
  keyring: Keyring
  log: SignerLog
}

type Report = (facts: object, message: string) => void
export type SignerLog = { info: Report; warn: Report; error: Report }

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
/** Largest execution gas of one bundle; below the transaction cap of EIP-7825. */
const BUNDLE_GAS = 15_000_000n

/**
 * The signer's loop: take, check, simulate, sign, store. It broadcasts nothing.
 *
 * @param nextWork - Resolves when there may be work, at the latest after the given milliseconds.
 */
export async function runSigner(
  tools: SignerTools,
  nextWork: (timeoutMs: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const wake = nextWork(POLL_MS)
    try {
      const busy = await signOnce(tools)
      if (!busy) await wake
    } catch (error) {
      tools.log.warn({ err: error }, 'signer round failed')
      await sleep(RETRY_MS)
    }
  }
}

/** Serves every lane that has something to sign once. True when anything was taken. */
export async function signOnce(tools: SignerTools): Promise<boolean> {
  const due = await findChainsToSign(tools.db)
  if (due.length === 0) return false
  const lanes = (await readLanes(tools.db)).filter(({ chainId }) => due.includes(chainId))
  const taken = await Promise.all(lanes.map((lane) => serveLane(tools, lane)))
  return taken.some((count) => count > 0)
}

async function serveLane(tools: SignerTools, lane: Lane): Promise<number> {
  const operations = await takeOperations(tools.db, lane, tools.keyring.taker)
  if (operations.length === 0) return 0
  try {
    await signTaken(tools, lane, operations)
  } catch (error) {
    tools.log.warn({ err: error, lane: lane.sender }, 'nothing was signed')
    await Promise.all(operations.map((operation) => giveBack(tools, operation, error)))
  }
  return operations.length
}

async function signTaken(tools: SignerTools, lane: Lane, taken: Operation[]): Promise<void> {
  const { db, keyring, log } = tools
  const client = tools.chains.byId(lane.chainId)
  const site = await readSite(client, lane)
  const carriedAgain = taken.filter(({ state }) => state === 'signed')
  const fresh = taken.filter(({ state }) => state === 'queued')
  const prepared = await prepareAll(tools, client, site, fresh)

  for (const group of groupByTransaction(prepared)) {
    const stored = await signAndStore(db, keyring, lane, site, group)
    if (stored) log.info({ chain: site.chain.name, lane: lane.sender, ...stored }, 'signed')
  }
  for (const operation of carriedAgain) {
    const stored = await storeAgain(db, keyring, lane, site, operation)
    if (stored) log.error({ chain: site.chain.name, ...stored }, 'carrier was lost, signed again')
  }
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
  site: Site,
  operations: Operation[],
): Promise<Prepared[]> {
  const results = await Promise.all(
    operations.map(async (operation) => {
      try {
        return await prepareOne(tools, client, site, operation)
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
  site: Site,
  operation: Operation,
): Promise<Prepared | undefined> {
  const { db, keyring } = tools
  if (operation.lostLeases >= LOST_LEASES) {
    const message = 'It was taken five times without a verdict.'
    await refuse(tools, operation, deferral('INTERNAL', message, QUARANTINE_MS))
    tools.log.error({ operation: operation.id }, 'operation in quarantine')
    return undefined
  }
  if (site.head < operation.minBlock) {
    throw new ServiceError('RPC_ERROR', `The node of ${site.chain.name} is behind.`)
  }
  const at = { db, client, treasury: keyring.treasury.address, block: site.head }
  const timer = new AbortController()
  const late = sleep(PREPARE_MS, undefined, { signal: timer.signal }).catch(() => undefined)
  const result = await Promise.race([prepare(at, operation), late]).finally(() => {
    timer.abort()
  })
  if (!result) throw new ServiceError('RPC_ERROR', `${site.chain.name} answers too slowly.`)
  if (result.kind === 'userOperation' || result.kind === 'funding') return result
  await writeNotPrepared(tools, site, result)
  return undefined
}

async function writeNotPrepared(tools: SignerTools, site: Site, result: NotPrepared) {
  const { operation } = result
  if (result.kind === 'spent') {
    tools.log.warn({ operation: operation.id }, 'executed already, its log is awaited')
    await returnOperation(tools.db, operation.id, tools.keyring.taker, 5 * RETRY_MS)
    return
  }
  // One refusal may be an effect that this node has not seen yet: only a later block makes it final.
  const again = operation.refusedBlock !== null && operation.refusedBlock < site.head
  await refuse(tools, operation, {
    state: again ? 'rejected' : 'deferred',
    code: operation.kind === 'fund' ? 'FUNDING_FAILED' : 'DEPOSIT_FAILED',
    message: `The call would fail: ${result.reason}`,
    retryAfterMs: RETRY_MS,
    refusedBlock: operation.refusedBlock ?? site.head,
  })
}

/** User operations share a transaction as far as its gas reaches; a funding has one of its own. */
function groupByTransaction(prepared: Prepared[]): Prepared[][] {
  const groups = prepared.filter(({ kind }) => kind === 'funding').map((funding) => [funding])
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
