import { toBytes, type Sent } from '../sent.js'

/** The JSON-RPC error of a rejected transaction. */
export type RpcRefusal = { code: number; message: string }

/** Any request to the node behind the front. */
export type Ask = <T>(method: string, params: unknown[]) => Promise<T>

export type RawReceipt = { transactionHash: string; gasUsed: string; effectiveGasPrice: string }

/** How a kind of rollup charges for the data of transactions that it posts on L1. */
export type Rollup = {
  /** Typical response of `eth_maxPriorityFeePerGas`, wei. */
  tipWei: bigint
  refusalOf(ask: Ask, sent: Sent): Promise<RpcRefusal | undefined>
  /** A receipt in the format of this kind of node. */
  toReceipt(ask: Ask, receipt: RawReceipt): Promise<RawReceipt>
  /** Gas that an estimate adds for a call with this data. */
  estimateOnTop(ask: Ask, data: string): Promise<bigint>
}

/** JSON-RPC error code of geth for errors without a code of their own. */
export const REFUSED = -32_000

export type ViewCall = { to: string; data: string }

export async function readUint(ask: Ask, call: ViewCall): Promise<bigint> {
  return BigInt(await ask<string>('eth_call', [call, 'latest']))
}

/** The signed bytes of a mined transaction; undefined when a reorg has just removed it. */
export async function readRaw(
  ask: Ask,
  { transactionHash }: RawReceipt,
): Promise<Buffer | undefined> {
  const raw = await ask<string | null>('eth_getRawTransactionByHash', [transactionHash])
  return raw === null ? undefined : toBytes(raw)
}

/** Gas of calldata: 4 for a zero byte, 16 for any other byte. */
export function calldataGas(data: Buffer): bigint {
  let gas = 0
  for (const byte of data) gas += byte === 0 ? 4 : 16
  return BigInt(gas)
}
