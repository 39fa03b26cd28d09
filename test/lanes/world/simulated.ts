import { ENTRY_POINT_ADDRESS } from '../../../chains/registry.js'
import type { RpcCall } from '../../support/faultProxy.js'

/** The wallets whose calls a question to the node simulates, alone or together: it puts code in their place. */
export function simulatedIn({ method, params: [, , overrides] }: RpcCall): string[] {
  if (method !== 'eth_estimateGas' && method !== 'eth_call') return []
  return Object.keys(overrides ?? {}).filter((address) => address !== ENTRY_POINT_ADDRESS)
}

/** True for a question about several calls. */
export const isTogether = ({ params: [, , overrides] }: RpcCall): boolean =>
  Object.keys(overrides ?? {}).includes(ENTRY_POINT_ADDRESS)
