import { setTimeout as sleep } from 'node:timers/promises'
import { readReceipt, type EventLog } from '../../evm/read.js'
import { readAuditedChain, type AuditedChain } from './rows/rows.js'
import { pageOperations, readAudited, type AuditedOperation } from './rows/operations.js'
import { readOutcome } from '../../evm/logs/outcomes.js'
import { isKeySpent } from '../../evm/logs/spentKeys.js'
import { findOutcomeLog, isLogOf } from './chainLogs.js'
import { pagesOf } from './pages.js'
import type { ChainClient } from '../../evm/connect.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/** Compares each operation's row with its chain: whether it was executed, in which block, and whether it succeeded. */
export async function* auditOperations(
  tools: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { db, progress, againMs } = tools
  const { chainId, name } = client.chain
  const read = (page: { after: string; limit: number }) => pageOperations(db, chainId, page)
  let count = 0
  for await (const page of pagesOf(read, ({ id }) => id)) {
    progress(`${name}: ${(count += page.length)} operations`)
    const odd = await judgeAll(tools, client, page)
    if (odd.length === 0) continue
    await sleep(againMs)
    const ids = odd.map(({ operation }) => operation.id)
    const still = await judgeAll(tools, client, await readAudited(db, ids))
    yield* still.map(({ difference }) => difference)
  }
}

type Odd = { operation: AuditedOperation; difference: Difference }

async function judgeAll({ db }: AuditTools, client: ChainClient, page: AuditedOperation[]) {
  const indexed = await readAuditedChain(db, client.chain.chainId, 0)
  const judged = await Promise.all(
    page.map(async (operation): Promise<Odd | undefined> => {
      const difference = await judge(client, operation, indexed)
      return difference && { operation, difference }
    }),
  )
  return judged.filter((odd) => odd !== undefined)
}

/** Whether the row states that the operation's log is in a block. */
const isIncluded = ({ state }: AuditedOperation) => ['mined', 'confirmed', 'final'].includes(state)

async function judge(
  client: ChainClient,
  operation: AuditedOperation,
  indexed: AuditedChain | undefined,
): Promise<Difference | undefined> {
  if (isIncluded(operation) && (await isAsStored(client, operation))) return undefined
  const spent = await isKeySpent(client, operation)
  if (!spent && !isIncluded(operation)) return undefined
  const about = aboutOf(client, operation)
  const row = describeRow(operation)
  const facts = { check: 'operations', about, row } as const
  if (!spent) {
    const chain = 'no log, and its key is not spent'
    const remedy =
      'Roll back its outcome. The relayer sends its transaction again and waits for its log.'
    return { ...facts, chain, remedy, repair: { type: 'takeBack', operation } }
  }
  const log = await findOutcomeLog(client, operation)
  if (!log) {
    const remedy = 'The node may have pruned old logs. Use another node.'
    return { ...facts, chain: 'its key is spent, but its log was not found', remedy }
  }
  const chain = describeLog(client, log)
  if (!indexed || log.blockNumber > indexed.indexedBlock) {
    return { ...facts, chain, remedy: 'The relayer indexes it once it runs.' }
  }
  const repair = { type: 'index', operation, log } as const
  return { ...facts, chain, remedy: 'Index it from its log.', repair }
}

/** Whether the chain has the log that the row states. */
async function isAsStored(client: ChainClient, operation: AuditedOperation): Promise<boolean> {
  const { txHash, blockHash, logIndex, success } = operation
  const receipt = await readReceipt(client, txHash ?? '0x')
  if (receipt?.blockHash !== blockHash) return false
  const log = receipt?.logs.find((candidate) => candidate.logIndex === logIndex)
  if (!log || !isLogOf(client.chain, operation, log)) return false
  return readOutcome(client.chain, log)?.success === success
}

export const aboutOf = (
  { chain }: ChainClient,
  { kind, sequence, intentId }: Pick<AuditedOperation, 'kind' | 'sequence' | 'intentId'>,
) => `${kind} ${sequence} of ${intentId} on ${chain.name}`

function describeRow({ state, success, blockNumber }: AuditedOperation): string {
  if (blockNumber === null) return state
  return `${state}, ${success ? 'a success' : 'a failure'} in block ${blockNumber}`
}

function describeLog({ chain }: ChainClient, log: EventLog): string {
  const success = readOutcome(chain, log)?.success
  return `${success ? 'a success' : 'a failure'} in block ${log.blockNumber}, ${log.transactionHash}`
}
