import type { Outcomes } from '../../operations/watchOutcomes.js'

/** Outcomes for steps that a test calls again by itself. */
export const outcomesByHand = (
  nextChange: Outcomes['nextChange'] = () => Promise.resolve(),
): Outcomes => ({ nextChange })
