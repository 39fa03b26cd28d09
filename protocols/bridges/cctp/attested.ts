import { decodeCctpMessage } from './message.js'
import { finalityThreshold } from './contracts.js'
import type { Chain, Registry } from '../../../chains/registry.js'
import type { BridgeSpeed } from '../../../domain/intent.js'

/** Seconds that it usually takes until a burn of the chain is attested. */
export const usualSeconds = ({ cctp }: Chain, speed: BridgeSpeed): [lower: number, upper: number] =>
  cctp.seconds[speed]

/** The speed that a burn's message asks for. */
export const askedSpeed = (sent: string): BridgeSpeed =>
  decodeCctpMessage(sent).minFinalityThreshold <= finalityThreshold.fast ? 'fast' : 'standard'

/** The chain on which a message brings its money out, undefined when it is not in this deployment. */
export function findDestination({ chains }: Registry, message: string): Chain | undefined {
  const { destinationDomain } = decodeCctpMessage(message)
  return chains.find(({ cctp }) => cctp.domain === destinationDomain)
}

/** True when an attested message can no longer be minted at this block of its destination. A fast one expires. */
export function isExpired(message: string, block: bigint): boolean {
  const { expirationBlock } = decodeCctpMessage(message)
  return expirationBlock !== 0n && block >= expirationBlock
}
