import { Interface, toQuantity, type Result } from 'ethers'
import { ServiceError } from '../domain/errors.js'
import { MULTICALL_ADDRESS, callTogether } from './calls/multicall.js'
import type { ChainClient } from './connect.js'

/** A block to read at: its number, or its hash. A read by the hash of a removed block fails. */
export type BlockRef = 'latest' | 'finalized' | { blockNumber: bigint } | { blockHash: string }

export type Header = { number: bigint; hash: string; parentHash: string; baseFeeWei: bigint }
/** `minedAt`: the block's timestamp. */
export type Block = Header & { transactions: string[]; minedAt: Date }

export type EventLog = {
  address: string
  topics: string[]
  data: string
  blockNumber: bigint
  blockHash: string
  transactionHash: string
  logIndex: number
  /** The block's timestamp. Absent: the node does not return it with logs. */
  minedAt?: Date
}

export type Receipt = {
  transactionHash: string
  blockNumber: bigint
  blockHash: string
  success: boolean
  gasUsed: bigint
  gasPriceWei: bigint
  /** Fee of an OP Stack chain for posting on L1, in addition to the gas; 0 elsewhere. */
  l1FeeWei: bigint
  logs: EventLog[]
}

/** A block in JSON-RPC form. */
export const blockParameter = (block: BlockRef) => {
  if (typeof block === 'string') return block
  if ('blockNumber' in block) return toQuantity(block.blockNumber)
  return { blockHash: block.blockHash, requireCanonical: true }
}

/** A view function of a contract, and the block to call it at; the latest by default. */
export type ContractCall = {
  to: string
  abi: Interface
  name: string
  args?: unknown[]
  block?: BlockRef
}

/**
 * Calls a contract's view function and returns its results. Calls in the same tick share one request.
 *
 * @throws {ServiceError} RPC_ERROR, also when the contract does not exist, or not at that node or block.
 */
export async function readContract(
  client: ChainClient,
  { to, abi, name, args = [], block = 'latest' }: ContractCall,
): Promise<Result> {
  const data = abi.encodeFunctionData(name, args)
  const answer = await callTogether(client, { to, data }, blockParameter(block))
  try {
    return abi.decodeFunctionResult(name, answer)
  } catch (cause) {
    throw unreadable(client, { to, name, answer }, cause)
  }
}

function unreadable(
  { chain: { name: chain } }: ChainClient,
  { to, name, answer }: Pick<ContractCall, 'to' | 'name'> & { answer: string },
  cause?: unknown,
): ServiceError {
  const reason = answer === '0x' ? 'no contract there' : 'an answer of another shape'
  const details = {
    chain,
    method: 'eth_call',
    answered: true,
    reverted: false,
    decoded: false,
    reason,
  }
  return new ServiceError(
    'RPC_ERROR',
    `${chain} cannot return ${name} of ${to}: ${reason}.`,
    details,
    { cause },
  )
}

const token = new Interface(['function balanceOf(address) view returns (uint256)'])

/** Balance of a token in base units. */
export async function readBalance(
  client: ChainClient,
  { token: to, owner, block = 'latest' }: { token: string; owner: string; block?: BlockRef },
): Promise<bigint> {
  const [units] = await readContract(client, {
    to,
    abi: token,
    name: 'balanceOf',
    args: [owner],
    block,
  })
  return units as bigint
}

const multicall = new Interface(['function getBlockNumber() view returns (uint256)'])

/**
 * The `block.number` that the chain's contracts see. On Arbitrum it is about Ethereum's block number, much lower than
 * the chain's own height from `readBlock`. Compare block numbers inside contracts with this one.
 *
 * @throws {ServiceError} RPC_ERROR.
 * @see https://docs.arbitrum.io/build-decentralized-apps/arbitrum-vs-ethereum/block-numbers-and-time
 */
export async function readContractBlock(
  client: ChainClient,
  block: BlockRef = 'latest',
): Promise<bigint> {
  const call = { to: MULTICALL_ADDRESS, abi: multicall, name: 'getBlockNumber', block }
  return (await readContract(client, call))[0] as bigint
}

type RawBlock = {
  number: string
  hash: string
  parentHash: string
  baseFeePerGas?: string
  transactions: string[]
  timestamp: string
}

/** A block with its transaction hashes; undefined when the node does not have it. */
export async function readBlock(client: ChainClient, block: BlockRef): Promise<Block | undefined> {
  const raw = await client.send<RawBlock | null>('eth_getBlockByNumber', [
    blockParameter(block),
    false,
  ])
  if (!raw) return undefined
  return {
    number: BigInt(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    baseFeeWei: BigInt(raw.baseFeePerGas ?? 0),
    transactions: raw.transactions,
    minedAt: toDate(raw.timestamp),
  }
}

const toDate = (seconds: string) => new Date(Number(seconds) * 1_000)

type RawLog = Omit<EventLog, 'blockNumber' | 'logIndex' | 'minedAt'> & {
  blockNumber: string
  logIndex: string
  blockTimestamp?: string | null
}

const toLog = (raw: RawLog): EventLog => ({
  address: raw.address,
  topics: raw.topics,
  data: raw.data,
  transactionHash: raw.transactionHash,
  blockHash: raw.blockHash,
  blockNumber: BigInt(raw.blockNumber),
  logIndex: Number(raw.logIndex),
  ...(raw.blockTimestamp ? { minedAt: toDate(raw.blockTimestamp) } : {}),
})

/** Blocks to read logs of. Without the block, a node rejects its hash but silently skips its number. */
export type LogRange = { from: bigint; to: bigint } | { blockHash: string }

/** Logs of these emitters, with one of the listed topics at each position; null: any. */
export type LogFilter = { emitters: string[]; topics: (string[] | null)[] }

export async function readLogs(
  client: ChainClient,
  range: LogRange,
  { emitters, topics }: LogFilter,
): Promise<EventLog[]> {
  const blocks =
    'from' in range
      ? { fromBlock: toQuantity(range.from), toBlock: toQuantity(range.to) }
      : { blockHash: range.blockHash }
  const filter = { ...blocks, address: emitters, topics }
  return (await client.send<RawLog[]>('eth_getLogs', [filter])).map(toLog)
}

type JsonRpcReceipt = {
  transactionHash: string
  blockNumber: string
  blockHash: string
  status: string
  gasUsed: string
  effectiveGasPrice: string
  l1Fee?: string | null
  logs: RawLog[]
}

/** The receipt of a transaction; undefined while it is not mined. */
export async function readReceipt(client: ChainClient, hash: string): Promise<Receipt | undefined> {
  const raw = await client.send<JsonRpcReceipt | null>('eth_getTransactionReceipt', [hash])
  if (!raw) return undefined
  return {
    transactionHash: raw.transactionHash,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    success: BigInt(raw.status) === 1n,
    gasUsed: BigInt(raw.gasUsed),
    gasPriceWei: BigInt(raw.effectiveGasPrice),
    l1FeeWei: BigInt(raw.l1Fee ?? 0),
    logs: raw.logs.map(toLog),
  }
}
