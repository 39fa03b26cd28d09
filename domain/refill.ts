/** Limits on refills of senders from the treasury, per chain, in wei. */
export type RefillLimits = {
  /** Balance up to which a sender is refilled. */
  highestWei: bigint
  /** Total for all senders of the chain within 24 hours. Zero: no refills. */
  dailyWei: bigint
  /** Balance that stays in the treasury. */
  reserveWei: bigint
}
