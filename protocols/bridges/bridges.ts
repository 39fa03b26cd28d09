import { cctp } from './cctp/cctp.js'
import { connectService } from './cctp/attestations.js'
import type { Attestations, Bridge } from './bridge.js'

/** By the name that plans call them by. */
const bridges = new Map<string, Bridge>([[cctp.protocol, cctp]])

/** For what only the chain tells of: whose message a log belongs to is not known before it is read. */
export const allBridges = [...bridges.values()]

/** The bridge of a plan's step. Throws when there is none of this name: nothing is sent then. */
export function bridgeOf(protocol: string): Bridge {
  const bridge = bridges.get(protocol)
  if (!bridge) throw new Error(`No bridge ${protocol} in this deployment.`)
  return bridge
}

/** The service of the bridge over which plans lead. */
export const connectAttestations = (url: string): Attestations => ({
  bridge: cctp,
  ...connectService(url),
})
