import type { RpcCall } from '../../support/faultProxy.js'

/** The wallets whose calls a question to the node simulates: it puts code in their place. */
export function simulatedIn({ method, params: [, , overrides] }: RpcCall): string[] {
  if (method !== 'eth_estimateGas' && method !== 'eth_call') return []
  return Object.keys(overrides ?? {})
}
