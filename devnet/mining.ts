import { setTimeout as sleep } from 'node:timers/promises'
import { callRpc } from './rpc.js'

/**
 * Has a node mine a block every `blockTimeSeconds`, for nodes started with `mining: 'tended'`.
 *
 * @returns Stops it.
 */
export function keepMining(url: string, blockTimeSeconds: number): () => void {
  const stopped = new AbortController()
  void mine(url, blockTimeSeconds * 1_000, stopped.signal)
  return () => stopped.abort()
}

async function mine(url: string, everyMs: number, signal: AbortSignal): Promise<void> {
  let next = performance.now()
  while (!signal.aborted) {
    // A node that is being restarted does not answer; a later block tells that it does again.
    await callRpc(url, 'evm_mine').catch(() => undefined)
    next = Math.max(next + everyMs, performance.now())
    const pause = sleep(next - performance.now(), undefined, { signal, ref: false })
    await pause.catch(() => undefined)
  }
}
