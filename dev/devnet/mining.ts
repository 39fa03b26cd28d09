import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { callRpcBatch, type RpcCall } from './rpc.js'

/** How blocks come: how often, and at which base fee, wei, unless the node is to reckon it. */
export type Pace = { blockTimeSeconds: number; baseFeeWei?: bigint | undefined }

/**
 * Has a node mine a block every `blockTimeSeconds`, for nodes started with `mining: 'tended'`.
 *
 * @returns Stops it.
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
    // A node that is being restarted does not answer; a later block tells that it does again.
    await callRpcBatch(url, calls).catch(() => undefined)
    const now = performance.now()
    next = Math.max(next + everyMs, now)
    const pause = sleep(next - now, undefined, { signal, ref: false })
    await pause.catch(() => undefined)
  }
}

const keptBaseFee = ({ baseFeeWei }: Pace): RpcCall[] =>
  baseFeeWei === undefined ? [] : [['anvil_setNextBlockBaseFeePerGas', [toQuantity(baseFeeWei)]]]
