import type { BridgeSpeed } from '../../../domain/intent/intent.js'

/** `minFinalityThreshold` of burns. A threshold above 1,000 requests finality. */
export const finalityThreshold: Record<BridgeSpeed, number> = { fast: 1_000, standard: 2_000 }

export const speedOf = (threshold: number): BridgeSpeed =>
  threshold <= finalityThreshold.fast ? 'fast' : 'standard'
