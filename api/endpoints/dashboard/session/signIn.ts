import { z } from 'zod'
import { ServiceError } from '../../../../domain/errors.js'
import { addressOf } from '../../../http/auth/browser.js'
import { openRoute } from '../../../http/auth/memberRoute.js'
import { provePassword, signInAs } from '../../../http/auth/signIn.js'
import { beginCommit } from '../../../http/deadline.js'
import { noParams, noQuery } from '../../../http/input.js'
import { emailInput, passwordInput } from '../../../schemas/dashboard.js'
import { sessionBody } from './sessionBody.js'

export const signIn = openRoute(
  {
    method: 'post',
    path: '/session',
    params: noParams,
    query: noQuery,
    body: z.strictObject({ email: emailInput, password: passwordInput }),
    emailOf: ({ email }) => email,
  },
  async (services, { body: { email, password }, ...exchange }) => {
    const address = addressOf(services, exchange.request)
    const userId = await provePassword(services, { email, address }, password)
    if (!userId) throw new ServiceError('UNAUTHORIZED', 'E-mail or password is wrong.')
    beginCommit(exchange.response)
    const member = await signInAs(services, exchange, { userId })
    return { status: 200, body: sessionBody(services, member) }
  },
)
