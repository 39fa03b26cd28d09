import type { Outcomes } from '../../lanes/watching.js'

/** Outcomes for steps that a test calls again by itself. */
export const outcomesByHand = (
  nextChange: Outcomes['nextChange'] = () => Promise.resolve(),
): Outcomes => ({ nextChange })
