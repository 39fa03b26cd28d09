import { z } from 'zod'
import {
  INVITATION_HOURS,
  endInvitation,
  inviteMember,
  readInvitations,
} from '../../../../db/tenants/invitations.js'
import { listActs, type MemberAct } from '../../../../db/tenants/acts.js'
import {
  changeRole,
  readMembers,
  removeMember,
  type AccountMember,
} from '../../../../db/tenants/users.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { roles, type Role } from '../../../../domain/roles.js'
import { noBody, noParams, noQuery } from '../../../http/input.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { pageBody, pageQuery, toSlice } from '../../../http/pages.js'
import { hostUrl } from '../../../http/auth/origin.js'
import {
  emailInput,
  idInput,
  roleInput,
  type ActEntry,
  type InviteAnswer,
  type InviteEntry,
  type MemberEntry,
} from '../../../schemas/dashboard.js'

const owners: readonly Role[] = ['owner']
/** Members and open invitations together: a list of them is read at once. */
const MAX_MEMBERS = 100

const listMembers = memberRoute(
  {
    ...{ method: 'get', path: '/members', roles },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async ({ db }, { caller }) => {
    const members = await readMembers(db, caller.accountId)
    return { status: 200, body: { data: members.map(memberBody), nextCursor: null } }
  },
)

const listInvitations = memberRoute(
  {
    ...{ method: 'get', path: '/members/invitations', roles: owners },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async ({ db }, { caller }) => {
    const invitations = await readInvitations(db, caller.accountId)
    const data = invitations.map(({ id, email, role, createdAt, expiresAt }): InviteEntry => ({
      ...{ id, email, role },
      ...{ createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)

/** The link is handed over by whoever invites: the service sends no mail. */
const invite = memberRoute(
  {
    ...{ method: 'post', path: '/members/invite', roles: owners },
    ...{ params: noParams, query: noQuery },
    body: z.strictObject({ email: emailInput, role: roleInput }),
  },
  async ({ db, dashboard }, { caller, request, body: { email, role } }) => {
    const { accountId, userId: invitedBy } = caller
    const members = await readMembers(db, accountId)
    if (members.some((member) => member.email === email)) {
      throw invalidRequest('email', 'This e-mail is that of a member already. Change his role.')
    }
    const { id, token, expiresAt } = await actAs(db, caller, async (trx) => {
      const open = await readInvitations(trx, accountId)
      if (members.length + open.length >= MAX_MEMBERS) {
        throw invalidRequest('', `An account has ${MAX_MEMBERS} members and invitations at most.`)
      }
      const hours = INVITATION_HOURS
      return inviteMember(trx, { accountId, email, role, invitedBy, hours })
    })
    const url = `${hostUrl(dashboard, request)}/dashboard/invitations/${token}`
    const body: InviteAnswer = { id, url, email, role, expiresAt: expiresAt.toISOString() }
    return { status: 201, body }
  },
)

const byId = { params: z.object({ id: idInput }), query: noQuery, roles: owners }

const withdrawInvitation = memberRoute(
  { ...byId, method: 'post', path: '/members/invitations/:id/end', body: noBody },
  async ({ db }, { caller, params: { id } }) => {
    const { accountId } = caller
    await actAs(db, caller, (trx) => endInvitation(trx, accountId, id))
    return { status: 200, body: { ended: id } }
  },
)

const changeMember = memberRoute(
  {
    ...{ ...byId, method: 'post', path: '/members/:id/role' },
    body: z.strictObject({ role: roleInput }),
  },
  async ({ db }, { caller, params: { id }, body: { role } }) => {
    const member = { accountId: caller.accountId, userId: id }
    await actAs(db, caller, (trx) => changeRole(trx, member, role))
    return { status: 200, body: { id, role } }
  },
)

const endMembership = memberRoute(
  { ...byId, method: 'post', path: '/members/:id/remove', body: noBody },
  async ({ db }, { caller, params: { id } }) => {
    const member = { accountId: caller.accountId, userId: id }
    await actAs(db, caller, (trx) => removeMember(trx, member))
    return { status: 200, body: { removed: id } }
  },
)

const listAllActs = memberRoute(
  {
    ...{ method: 'get', path: '/members/acts', roles: owners },
    ...{ params: noParams, query: z.strictObject(pageQuery), body: z.undefined() },
  },
  async ({ db }, { caller, query }) => {
    const slice = toSlice(query, /^\d{1,18}$/)
    const acts = await listActs(db, caller.accountId, slice)
    return { status: 200, body: pageBody(acts, slice, actBody) }
  },
)

export const memberRoutes = [
  listMembers,
  listAllActs,
  listInvitations,
  invite,
  withdrawInvitation,
  changeMember,
  endMembership,
]

const memberBody = ({ id, email, name, role, createdAt }: AccountMember): MemberEntry => ({
  ...{ id, email, name, role },
  createdAt: createdAt.toISOString(),
})

const actBody = ({ id, at, userId, email, action, subject, detail }: MemberAct): ActEntry => ({
  ...{ id, action, subject, detail },
  at: at.toISOString(),
  by: { id: userId, email },
})
