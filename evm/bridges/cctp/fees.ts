import { z } from 'zod'
import { speedOf } from './speed.js'
import type { BridgeFees } from '../bridge.js'

/** `minimumFee`: basis points, with decimals. */
export const feesAnswer = z
  .array(
    z.object({
      finalityThreshold: z.coerce.number(),
      minimumFee: z.coerce.number().min(0).max(1_000),
    }),
  )
  .max(20)

/** Of several thresholds of one speed the highest counts, because burns request that one. */
export function toFees(answer: z.infer<typeof feesAnswer>): BridgeFees {
  const fees = answer
    .toSorted((a, b) => a.finalityThreshold - b.finalityThreshold)
    .map(({ finalityThreshold, minimumFee }) => {
      return [speedOf(finalityThreshold), BigInt(Math.ceil(minimumFee * 100))]
    })
  return Object.fromEntries(fees) as BridgeFees
}
