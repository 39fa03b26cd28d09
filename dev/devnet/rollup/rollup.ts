import { toBytes, type Sent } from '../sent.js'

/** Why a node does not take a transaction, as JSON-RPC tells it. */
export type Refusal = { code: number; message: string }

/** Any request to the node behind. */
export type Ask = <T>(method: string, params: unknown[]) => Promise<T>

export type RawReceipt = { transactionHash: string; gasUsed: string; effectiveGasPrice: string }

/** How a kind of rollup charges for the data of transactions, which it has to post on L1. */
export type Rollup = {
  /** What `eth_maxPriorityFeePerGas` usually answers, wei. */
  tipWei: bigint
  refusalOf(ask: Ask, sent: Sent): Promise<Refusal | undefined>
  /** A receipt as this kind of node tells it. */
  toldReceipt(ask: Ask, receipt: RawReceipt): Promise<RawReceipt>
  /** Gas that an estimate has on top, for a call with this data. */
  estimateOnTop(ask: Ask, data: string): Promise<bigint>
}

/** JSON-RPC: the code of geth for whatever has none of its own. */
export const REFUSED = -32_000

export type ViewCall = { to: string; data: string }

export async function readUint(ask: Ask, call: ViewCall): Promise<bigint> {
  return BigInt(await ask<string>('eth_call', [call, 'latest']))
}

/** The signed bytes of a mined transaction, undefined when a reorg has just taken it back. */
export async function readRaw(
  ask: Ask,
  { transactionHash }: RawReceipt,
): Promise<Buffer | undefined> {
  const raw = await ask<string | null>('eth_getRawTransactionByHash', [transactionHash])
  return raw === null ? undefined : toBytes(raw)
}

/** Gas of calldata: 4 for a zero, 16 for any other byte. */
export function calldataGas(data: Buffer): bigint {
  let gas = 0
  for (const byte of data) gas += byte === 0 ? 4 : 16
  return BigInt(gas)
}
