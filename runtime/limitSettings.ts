import { parseUnits } from 'ethers'
import { z } from 'zod'
import { chainNames } from '../evm/registry.js'
import { defaultLimits } from '../domain/limits.js'
import { ASSET_DECIMALS } from '../domain/money.js'

/** A whole number between two bounds. */
export const numberBetween = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
export const wholeNumber = (min: number, max: number, preset: number) =>
  numberBetween(min, max).default(preset)
/** Highest costs of swaps and bridges, for the planning processes and the signer. */
export const prices = {
  SWAP_MAX_LOSS_BPS: wholeNumber(0, 10_000, Number(defaultLimits.swapLossBps)).describe(
    'Largest distance of a swap from parity, as a loss or a surplus, in hundredths of a percent. The same value for all readers.',
  ),
  SWAP_MAX_DRIFT_BPS: wholeNumber(0, 10_000, Number(defaultLimits.swapDriftBps)).describe(
    'Largest distance of a pool from its ten-minute average, in hundredths of a percent. The same value for all readers.',
  ),
  BRIDGE_MAX_FEE_BPS: wholeNumber(0, 10_000, Number(defaultLimits.bridgeFeeBps)).describe(
    'Highest fee of a bridge, in hundredths of a percent. The same value for all readers.',
  ),
}
/** Markets that the planner avoids. */
export const lending = {
  LEND_MAX_UTILIZATION_BPS: wholeNumber(0, 10_000, Number(defaultLimits.utilizationBps)).describe(
    'Highest borrowed part of a market that is chosen for a deposit, in hundredths of a percent. The same value for all readers.',
  ),
  LEND_MIN_CASH_TIMES: wholeNumber(0, 1_000, Number(defaultLimits.cashTimes)).describe(
    'Cash of a market that is chosen for a deposit, as a multiple of the deposit. The same value for all readers.',
  ),
}

/** `gas`, or decimal text of dollars as base units. */
export const smallestAmount = z
  .string()
  .regex(/^(gas|\d{1,9}(\.\d{1,6})?)$/, 'must be `gas` or dollars in decimal text, such as 0.5')
  .transform((text) => (text === 'gas' ? text : parseUnits(text, ASSET_DECIMALS)))
export const smallestAmounts = z.partialRecord(z.enum(chainNames), smallestAmount)
