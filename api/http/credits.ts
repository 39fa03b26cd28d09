import type { Response } from 'express'
import { ServiceError } from '../../domain/errors.js'
import type { SpentGasBudget } from '../../db/usage/metering.js'

/** Sets the headers with the credits that the call cost and the remaining balance. */
export function setCredits(response: Response, charged: number, remaining: bigint): void {
  response.setHeader('X-Credits-Charged', String(charged))
  response.setHeader('X-Credits-Remaining', String(remaining))
}

/** Resets the headers to no charge, unless they have been sent. */
export function forgetCharge(response: Response): void {
  if (response.headersSent || !(Number(response.get('X-Credits-Charged')) > 0)) return
  response.set('X-Credits-Charged', '0')
  response.removeHeader('X-Credits-Remaining')
}

/** For a call that may have been charged. */
export function hideCharge(response: Response): void {
  response.removeHeader('X-Credits-Charged')
  response.removeHeader('X-Credits-Remaining')
}

export function outOfCredits(required: number, available: bigint): ServiceError {
  const price = `${required} ${required === 1 ? 'credit' : 'credits'}`
  const message = `This call costs ${price}; the account has ${available} left.`
  return new ServiceError('INSUFFICIENT_CREDITS', message, {
    required,
    available: Number(available),
  })
}

/** @param gasUsd - Estimated gas of the new intent. */
export function outOfGas(
  { usedUsd, budgetUsd: limit, retryAfter }: SpentGasBudget,
  gasUsd = 0,
): ServiceError {
  const message =
    `The gas of this intent costs about ${gasUsd} USD. The account has used ${usedUsd} of ${limit} USD today. ` +
    `Try again in ${retryAfter} s, after midnight UTC.`
  const window = 'gas of a UTC day'
  const details = { limit, window, retryAfter, used: usedUsd, required: gasUsd }
  return new ServiceError('RATE_LIMITED', message, details)
}
