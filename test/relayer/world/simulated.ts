import type { RpcRequest } from '../../support/faultProxy.js'

/** The wallets whose calls a request simulates, by its code overrides. */
export function simulatedIn({ method, params: [, , overrides] }: RpcRequest): string[] {
  if (method !== 'eth_estimateGas' && method !== 'eth_call') return []
  return Object.keys(overrides ?? {})
}
