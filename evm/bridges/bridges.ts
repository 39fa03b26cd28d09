import { cctp } from './cctp/cctp.js'
import { connectService } from './cctp/attestations.js'
import type { Attestations, Bridge } from './bridge.js'

/** By their names in plans. */
const bridges = new Map<string, Bridge>([[cctp.protocol, cctp]])

/** For reading logs: the bridge of a log is unknown before it is read. */
export const allBridges = [...bridges.values()]

/** The bridge of a plan's step. Throws for an unknown name. */
export function bridgeOf(protocol: string): Bridge {
  const bridge = bridges.get(protocol)
  if (!bridge) throw new Error(`No bridge ${protocol} in this deployment.`)
  return bridge
}

/** The attestation service of the bridge that plans use. */
export const connectAttestations = (url: string): Attestations => ({
  bridge: cctp,
  ...connectService(url),
})
