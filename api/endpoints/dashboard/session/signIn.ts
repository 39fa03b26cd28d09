import { z } from 'zod'
import {
  endSessions,
  readOwnAccounts,
  readSessions,
  type Member,
} from '../../../../db/tenants/sessions.js'
import { changePassword } from '../../../../db/tenants/users.js'
import { ServiceError, invalidRequest } from '../../../../domain/errors.js'
import { roles } from '../../../../domain/roles.js'
import { addressOf } from '../../../http/auth/browser.js'
import { sessionCookie } from '../../../http/auth/cookies.js'
import { noBody, noParams, noQuery } from '../../../http/input.js'
import { memberRoute, openRoute } from '../../../http/auth/memberRoute.js'
import { provePassword, signInAs, switchTo } from '../../../http/auth/signIn.js'
import {
  emailInput,
  idInput,
  newPasswordInput,
  passwordInput,
  type OwnAccountEntry,
  type SessionAnswer,
  type SessionEntry,
} from '../../../schemas/dashboard.js'
import type { Services } from '../../../http/services.js'

const signIn = openRoute(
  {
    method: 'post',
    path: '/session',
    params: noParams,
    query: noQuery,
    body: z.strictObject({ email: emailInput, password: passwordInput }),
  },
  async (services, { body: { email, password }, ...exchange }) => {
    const address = addressOf(services, exchange.request)
    const userId = await provePassword(services, { email, address }, password)
    if (!userId) throw new ServiceError('UNAUTHORIZED', 'E-mail or password is wrong.')
    const member = await signInAs(services, exchange, { userId })
    return { status: 200, body: sessionBody(services, member) }
  },
)

/** For whoever is signed in, whatever he may do. */
const everyone = { params: noParams, query: noQuery, roles }

const readSession = memberRoute(
  { ...everyone, method: 'get', path: '/session', body: z.undefined() },
  (services, { caller }) => Promise.resolve({ status: 200, body: sessionBody(services, caller) }),
)

const signOut = memberRoute(
  { ...everyone, method: 'post', path: '/session/end', body: noBody },
  async ({ db, dashboard }, { caller, response }) => {
    const ended = await endSessions(db, caller.userId, caller.sessionId)
    sessionCookie(dashboard).clear(response)
    return { status: 200, body: { ended } }
  },
)

const signOutEverywhere = memberRoute(
  { ...everyone, method: 'post', path: '/session/end-all', body: noBody },
  async ({ db, dashboard }, { caller, response }) => {
    const ended = await endSessions(db, caller.userId)
    sessionCookie(dashboard).clear(response)
    return { status: 200, body: { ended } }
  },
)

const listAccounts = memberRoute(
  { ...everyone, method: 'get', path: '/session/accounts', body: z.undefined() },
  async ({ db }, { caller }) => {
    const accounts = await readOwnAccounts(db, caller.userId)
    const data = accounts.map((account): OwnAccountEntry => ({
      ...account,
      isCurrent: account.id === caller.accountId,
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)

const switchAccount = memberRoute(
  {
    ...{ ...everyone, method: 'post', path: '/session/switch' },
    body: z.strictObject({ accountId: idInput }),
  },
  async (services, { body: { accountId }, ...exchange }) => {
    const member = await switchTo(services, exchange, accountId)
    return { status: 200, body: sessionBody(services, member) }
  },
)

const listSessions = memberRoute(
  { ...everyone, method: 'get', path: '/sessions', body: z.undefined() },
  async ({ db }, { caller }) => {
    const sessions = await readSessions(db, caller.userId)
    const data = sessions.map((session): SessionEntry => ({
      id: session.id,
      isCurrent: session.id === caller.sessionId,
      agent: session.agent,
      address: session.address,
      createdAt: session.createdAt.toISOString(),
      lastSeenAt: session.lastSeenAt.toISOString(),
      expiresAt: session.expiresAt.toISOString(),
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)

const endOneSession = memberRoute(
  {
    ...everyone,
    method: 'post',
    path: '/sessions/:id/end',
    params: z.object({ id: idInput }),
    body: noBody,
  },
  async ({ db }, { caller, params }) => {
    const ended = await endSessions(db, caller.userId, params.id)
    if (ended === 0) throw new ServiceError('NOT_FOUND', `You have no open session ${params.id}.`)
    return { status: 200, body: { ended } }
  },
)

const renewPassword = memberRoute(
  {
    ...everyone,
    method: 'post',
    path: '/password',
    body: z.strictObject({ current: passwordInput, next: newPasswordInput }),
  },
  async (services, { caller, request, body: { current, next } }) => {
    const claim = { email: caller.email, address: addressOf(services, request) }
    const isRight = await provePassword(services, claim, current)
    if (!isRight) throw invalidRequest('current', 'current is not your password.')
    await changePassword(services.db, caller, await services.dashboard.passwords.hash(next))
    return { status: 200, body: {} }
  },
)

export const sessionRoutes = [
  signIn,
  readSession,
  signOut,
  signOutEverywhere,
  listAccounts,
  switchAccount,
  listSessions,
  endOneSession,
  renewPassword,
]

/** What the dashboard shows of who is signed in. */
export function sessionBody({ registry, dashboard }: Services, member: Member): SessionAnswer {
  const { temporalUi } = dashboard
  return {
    user: {
      id: member.userId,
      email: member.email,
      name: member.name,
      isOperator: member.isOperator,
    },
    account: { id: member.accountId, name: member.accountName, plan: member.plan },
    role: member.role,
    network: registry.network,
    environment: registry.network,
    ...(member.isOperator && temporalUi !== undefined && { temporalUi }),
  }
}
