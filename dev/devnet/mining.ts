import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { callRpcBatch, type RpcCall } from './rpc.js'

/** Interval of blocks, and their base fee in wei. Without a base fee the node computes it. */
export type Pace = { blockTimeSeconds: number; baseFeeWei?: bigint | undefined }

/**
 * Mines a block on the node every `blockTimeSeconds`, for nodes started with `mining: 'tended'`.
 *
 * @returns Stops the mining.
 */
export function keepMining(url: string, pace: Pace): () => void {
  const stopped = new AbortController()
  void mine(url, pace, stopped.signal)
  return () => stopped.abort()
}

async function mine(url: string, pace: Pace, signal: AbortSignal): Promise<void> {
  const everyMs = pace.blockTimeSeconds * 1_000
  const calls: RpcCall[] = [...keptBaseFee(pace), ['evm_mine', []]]
  let next = performance.now()
  while (!signal.aborted) {
    // A restarting node does not answer. A later block shows that it is back.
    await callRpcBatch(url, calls).catch(() => undefined)
    const now = performance.now()
    next = Math.max(next + everyMs, now)
    const pause = sleep(next - now, undefined, { signal, ref: false })
    await pause.catch(() => undefined)
  }
}

const keptBaseFee = ({ baseFeeWei }: Pace): RpcCall[] =>
  baseFeeWei === undefined ? [] : [['anvil_setNextBlockBaseFeePerGas', [toQuantity(baseFeeWei)]]]
