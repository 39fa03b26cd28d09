/** When something was burned, and the seconds that its attestation usually takes. */
type Burned = { burnedAt: Date | null; usualSeconds: [lower: number, upper: number] }

/** Circle advises pauses of 5 s or longer; where bridges are quicker than that, their own time counts. */
const MOST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 15_000
/** Shortest and longest pause when it is late: after twice its time. */
const latePauses = [5_000, 15 * 60_000] as const
const PATIENCE = 2
/** After a message has expired. The new one is there soon, if the service does what it is asked for. */
const LONGEST_RENEWAL_MS = 15 * 60_000

const within = (ms: number, [least, most]: readonly [number, number]) =>
  Math.min(Math.max(ms, least), most)

const ageMs = ({ burnedAt }: Burned) => (burnedAt ? Date.now() - burnedAt.getTime() : 0)

const shortestPause = ({ usualSeconds: [lower] }: Burned) => Math.min(lower * 1_000, MOST_PAUSE_MS)

/** When its attestation may be there, Unix time in ms: no sooner than it ever was. */
export const firstQuestionAt = (burn: Burned) =>
  Date.now() - ageMs(burn) + burn.usualSeconds[0] * 1_000

export const isLate = (burn: Burned) => ageMs(burn) >= PATIENCE * burn.usualSeconds[1] * 1_000

/** Until the next question, ms: the longer the older it is, and longer yet when it is late. */
export function pollPause(burn: Burned): number {
  const bounds = isLate(burn) ? latePauses : ([shortestPause(burn), LONGEST_PAUSE_MS] as const)
  return within(ageMs(burn) / 10, bounds)
}

/** Until the next look at a message that was asked for so many times anew, ms. */
export const renewalPause = (burn: Burned, renewals: number) =>
  Math.min(shortestPause(burn) * renewals ** 2, LONGEST_RENEWAL_MS)
