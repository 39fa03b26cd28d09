import type { Outcomes } from '../../lanes/watching.js'

/** Outcomes for steps that a test tries again by itself: what is parked is not woken. */
export const outcomesByHand = (
  nextChange: Outcomes['nextChange'] = () => Promise.resolve(),
): Outcomes => ({ nextChange, park: () => Promise.resolve() })
