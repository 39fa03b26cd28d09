import type { BridgeSpeed } from '../../../domain/intent.js'

/** What a burn asks for. A threshold above the first one asks for finality. */
export const finalityThreshold: Record<BridgeSpeed, number> = { fast: 1_000, standard: 2_000 }

export const speedOf = (threshold: number): BridgeSpeed =>
  threshold <= finalityThreshold.fast ? 'fast' : 'standard'
