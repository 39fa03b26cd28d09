import { Interface } from 'ethers'
import { ENTRY_POINT_ADDRESS, chainFacts, type ChainName } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'
import { balanceOf, readAccount } from '../e2e/balances.js'
import type { ChainNode } from '../e2e/world.js'
import type { Notes, ChaosWallet } from './clients.js'

/** Violated invariants, each with the intents or wallets concerned. All are empty after a good run. */
export type ChaosVerdict = {
  double: string[]
  completedWithoutMoney: string[]
  failedWithMoneyMoved: string[]
  refusedThoughShown: string[]
  stuck: string[]
  notConserved: string[]
  nonces: string[]
  faults: string[]
}

export type OpenIntent = { id: string; status: string; age: string }

type Evidence = {
  db: Db
  nodes: Record<ChainName, ChainNode>
  wallets: ChaosWallet[]
  notes: Notes
  open: OpenIntent[]
}

const events = new Interface([
  `event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,
    uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)`,
])

/** Markets round against the lender, by one or two units each time. Interest of minutes on a few dollars is less. */
const SLACK_UNITS = 60n

export async function judge(evidence: Evidence): Promise<ChaosVerdict> {
  const { notes, open } = evidence
  const [executions, effects] = [await readExecutions(evidence), await readEffects(evidence)]
  return {
    double: [...findTwice(executions), ...(await findUnknown(evidence, executions))],
    completedWithoutMoney: effects
      .filter(({ status, done, steps }) => status === 'completed' && done < steps)
      .concat(effects.filter((one) => one.status === 'completed' && !isOnChain(one, executions)))
      .map(describe),
    failedWithMoneyMoved: effects
      .filter(({ status, done, steps }) => status === 'failed' && done === steps)
      .map(describe),
    refusedThoughShown: notes.refused.map((one) => JSON.stringify(one)),
    stuck: open.map(({ id, status, age }) => `${id} is ${status} after ${age}`),
    notConserved: await findLosses(evidence),
    nonces: await findGaps(evidence),
    faults: [...notes.faults, ...(await findDuplicates(evidence))],
  }
}

/** An execution on a chain: chain id, account, and key of the operation. */
type ChainExecution = { chainId: number; sender: string; key: string; success: boolean }
const nameOf = ({ chainId, sender, key }: Omit<ChainExecution, 'success'>) =>
  `${chainId}/${sender.toLowerCase()}/${key}`

/** Executions of our wallets by the events of each chain's EntryPoint. */
async function readExecutions({ nodes, wallets }: Evidence): Promise<ChainExecution[]> {
  const ours = new Set(wallets.map(({ address }) => address))
  const found: ChainExecution[] = []
  for (const [name, { provider }] of Object.entries(nodes)) {
    const topics = [events.getEvent('UserOperationEvent')?.topicHash ?? '']
    const logs = await provider.getLogs({ address: ENTRY_POINT_ADDRESS, topics, fromBlock: 0 })
    for (const log of logs) {
      const args = events.parseLog(log)?.args as unknown as ExecutionEvent
      if (!ours.has(args.sender)) continue
      const key = `0x${(args.nonce >> 64n).toString(16).padStart(48, '0')}`
      const { chainId } = chainFacts[name as ChainName]
      found.push({ chainId, sender: args.sender, key, success: args.success })
    }
  }
  return found
}

type ExecutionEvent = { sender: string; nonce: bigint; success: boolean }

function findTwice(executions: ChainExecution[]): string[] {
  const names = executions.map(nameOf)
  return names.filter((name, i) => names.indexOf(name) !== i)
}

/** Executions without a row. */
async function findUnknown({ db }: Evidence, executions: ChainExecution[]): Promise<string[]> {
  const rows = await db('operation as o')
    .join('wallet as w', 'w.id', 'o.wallet_id')
    .select<OperationKeyRow[]>('o.chain_id as chainId', 'w.address as sender', 'o.chain_key as key')
  const known = new Set(rows.map((row) => nameOf({ ...row, chainId: Number(row.chainId) })))
  return executions.map(nameOf).filter((name) => !known.has(name))
}

type OperationKeyRow = { chainId: bigint; sender: string; key: string }

/** An intent, and how many steps of its plan are done by its rows. `keys`: of its user operations. */
type IntentEffect = { id: string; status: string; steps: number; done: number; keys: string[] }

async function readEffects({ db }: Evidence): Promise<IntentEffect[]> {
  const { rows } = await db.raw<{ rows: IntentEffect[] }>(`
    select i.id, i.status, coalesce(json_array_length(i.plan -> 'steps'), 0) as steps,
      (select count(*)::int from json_array_elements(i.plan -> 'steps') s
       where exists (select from operation o
         where o.intent_id = i.id and o.sequence = (s ->> 'sequence')::int
           and o.kind = case s ->> 'type' when 'bridge' then 'mint' else s ->> 'type' end
           and o.success and o.state in ('mined', 'confirmed', 'final'))) as done,
      (select coalesce(json_agg(o.chain_id || '/' || lower(w.address) || '/' || o.chain_key), '[]'::json)
       from operation o join wallet w on w.id = o.wallet_id
       where o.intent_id = i.id and o.kind not in ('mint', 'fund')) as keys
    from intent i`)
  return rows
}

const isOnChain = ({ keys }: IntentEffect, executions: ChainExecution[]) => {
  const done = new Set(executions.filter(({ success }) => success).map(nameOf))
  return keys.every((key) => done.has(key))
}

const describe = ({ id, status, done, steps }: IntentEffect) =>
  `${id} ${status}: ${done} of ${steps}`

/** Wallets with more or less money than they received. */
async function findLosses({ nodes, wallets }: Evidence): Promise<string[]> {
  const losses: string[] = []
  for (const wallet of wallets) {
    const accounts = await Promise.all(
      Object.values(nodes).map((node) => readAccount(node, wallet)),
    )
    const { inBridge, surplus } = balanceOf(accounts)
    const isOff = surplus > SLACK_UNITS || surplus < -SLACK_UNITS
    if (isOff || inBridge !== 0n) {
      losses.push(`${wallet.id}: ${surplus} units too many, ${inBridge} in the bridge`)
    }
  }
  return losses
}

/** Senders with gaps in their nonces, or with another nonce on chain than in the rows. */
async function findGaps({ db, nodes }: Evidence): Promise<string[]> {
  const senders = await db('sender').select<StoredSender[]>('chain_id', 'sender', 'next_nonce')
  const gaps = await Promise.all(
    senders.map(async ({ chain_id, sender, next_nonce }) => {
      const [, node] =
        Object.entries(nodes).find(
          ([name]) => chainFacts[name as ChainName].chainId === Number(chain_id),
        ) ?? []
      const used = BigInt((await node?.provider.getTransactionCount(sender)) ?? 0)
      const rows = await db('chain_tx')
        .where({ chain_id: chain_id.toString(), sender })
        .select('id')
      const isWhole = used === next_nonce && BigInt(rows.length) === next_nonce
      return isWhole ? [] : [`${chain_id}/${sender}: ${used} used, ${next_nonce} bound`]
    }),
  )
  return gaps.flat()
}

type StoredSender = { chain_id: bigint; sender: string; next_nonce: bigint }

/** Each request of a client is one intent, and each intent has a request. */
async function findDuplicates({ db, notes }: Evidence): Promise<string[]> {
  const stored = await db('intent').pluck<string[]>('id')
  const ordered = notes.ordered.map(({ id }) => id)
  const unknown = stored.filter((id) => !ordered.includes(id))
  const twice = ordered.filter((id, i) => ordered.indexOf(id) !== i)
  return [
    ...unknown.map((id) => `${id} was stored, and no client knows it`),
    ...twice.map((id) => `${id} was the answer to two orders`),
  ]
}
