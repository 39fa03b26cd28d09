/** What the treasury may send to the lanes of a chain, wei. */
export type RefillLimits = {
  /** A lane is filled up to here at the most. */
  highestWei: bigint
  /** To all lanes of the chain together within 24 hours. Zero: nothing is ever sent. */
  dailyWei: bigint
  /** What stays with the treasury. */
  reserveWei: bigint
}
