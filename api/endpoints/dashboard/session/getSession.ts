import { z } from 'zod'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { anyMember } from '../memberSpecs.js'
import { sessionBody } from './sessionBody.js'

export const getSession = memberRoute(
  { ...anyMember, method: 'get', path: '/session', body: z.undefined() },
  (services, { caller }) => Promise.resolve({ status: 200, body: sessionBody(services, caller) }),
)
