import { z } from 'zod'
import {
  acceptInvitation as storeAcceptance,
  getInvitation,
  newUserId,
  type Acceptance,
  type Invitation,
} from '../../../../db/accounts/invitations.js'
import { endSignIn } from '../../../../db/accounts/users.js'
import { ServiceError, invalidRequest } from '../../../../domain/errors.js'
import { addressOf } from '../../../http/auth/browser.js'
import { openRoute } from '../../../http/auth/memberRoute.js'
import { provePassword, signInAs } from '../../../http/auth/signIn.js'
import { beginCommit } from '../../../http/deadline.js'
import { parse } from '../../../http/parse.js'
import {
  emailInput,
  nameInput,
  newPasswordInput,
  passwordInput,
} from '../../../schemas/dashboard.js'
import { byToken } from '../memberSpecs.js'
import { sessionBody } from '../session/sessionBody.js'
import type { Services } from '../../../http/services.js'

const accepting = z.strictObject({
  name: nameInput.optional(),
  email: emailInput.optional(),
  password: passwordInput,
})

/**
 * An existing user sends their password. A new user sends a name as well, and chooses a password. The response is the
 * same whether the e-mail has a user or not: the holder of the link need not be the owner of the address.
 */
export const acceptInvitation = openRoute(
  { ...byToken, method: 'post', path: '/invitations/:token/accept', body: accepting },
  async (services, { params: { token }, body, ...exchange }) => {
    const { db } = services
    const invitation = await getInvitation(db, token)
    const email = emailOf(invitation, body)
    const claim = { email, address: addressOf(services, exchange.request) }
    const userId = await provePassword(services, claim, body.password)
    if (!userId && body.name === undefined) {
      const message = `This is not the password of ${email}. As a new user, send a name as well.`
      throw new ServiceError('UNAUTHORIZED', message)
    }
    const acceptance = userId
      ? { userId, email, name: '' }
      : { ...(await newUser(services, body)), email }
    beginCommit(exchange.response)
    const accountId = await storeAcceptance(db, token, acceptance)
    await endSignIn(db, claim)
    const who = { userId: acceptance.userId, accountId }
    const member = await signInAs(services, exchange, who)
    return { status: 201, body: sessionBody(services, member) }
  },
)

type Accepting = z.infer<typeof accepting>

function emailOf(invitation: Invitation, body: Accepting): string {
  const email = invitation.email ?? body.email
  if (email === undefined) throw invalidRequest('email', 'email is required.')
  if (body.email === undefined || body.email === email) return email
  throw invalidRequest('email', 'The invitation is for another e-mail.')
}

async function newUser(
  { dashboard }: Services,
  { name, password }: Accepting,
): Promise<Omit<Acceptance, 'email'>> {
  const asNew = z.object({ name: nameInput, password: newPasswordInput })
  const chosen = parse(asNew, { name, password })
  const newPasswordHash = await dashboard.passwords.hash(chosen.password)
  return { userId: newUserId(), name: chosen.name, newPasswordHash }
}
