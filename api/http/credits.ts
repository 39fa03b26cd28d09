import type { Response } from 'express'
import { ServiceError } from '../../domain/errors.js'

/** The headers by which an answer tells what it cost and what is left. */
export function setCredits(response: Response, charged: number, remaining: bigint): void {
  response.setHeader('X-Credits-Charged', String(charged))
  response.setHeader('X-Credits-Remaining', String(remaining))
}

/** Takes back what the headers say of a charge, unless they have gone already. */
export function forgetCharge(response: Response): void {
  if (response.headersSent || !(Number(response.get('X-Credits-Charged')) > 0)) return
  response.set('X-Credits-Charged', '0')
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
