import { ServiceError, invalidRequest } from '../../domain/errors.js'
import { newId } from '../client/ids.js'
import { selectScoped } from '../client/scope.js'
import { newToken, tokenDigest } from './sessions.js'
import type { Db } from '../client/connect.js'
import type { Role } from '../../domain/roles.js'

const DAY_HOURS = 24
/** Invitations expire after a week by default. */
export const INVITATION_HOURS = 7 * DAY_HOURS

export type NewInvitation = {
  accountId: string
  /** In lower case. Absent: the person with the link chooses it. */
  email?: string | undefined
  role: Role
  /** Absent: an operator of the deployment. */
  invitedBy?: string | undefined
  /** Requires the permissions of the database owner. */
  isOperator?: boolean | undefined
  hours?: number | undefined
}

/**
 * Invites a person to an account. It replaces an open invitation for the same e-mail address.
 *
 * @returns The token of its link. It is not stored and cannot be shown again.
 * @throws {ServiceError} NOT_FOUND for an unknown account.
 */
export async function inviteMember(
  trx: Db,
  { accountId, email, role, invitedBy, isOperator = false, hours = DAY_HOURS }: NewInvitation,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const token = newToken()
  await trx('invitation')
    .where({ account_id: accountId, email: email ?? null })
    .whereNull('accepted_at')
    .whereNull('ended_at')
    .update({ ended_at: trx.raw('clock_timestamp()') })
  const row = {
    ...{ id: newId('invite_'), account_id: accountId, email: email ?? null, role },
    ...{ token_hash: tokenDigest(token), invited_by: invitedBy ?? null },
    expires_at: trx.raw(`clock_timestamp() + ? * interval '1 hour'`, [hours]),
    ...(isOperator && { is_operator: true }),
  }
  const [made] = await trx('invitation')
    .insert(row)
    .returning<{ id: string; expiresAt: Date }[]>(['id', 'expires_at as expiresAt'])
  if (!made) throw new Error('The invitation was not stored.')
  return { ...made, token }
}

const openInvitations = (db: Db, accountId: string) =>
  db('invitation')
    .where('invitation.account_id', accountId)
    .whereNull('accepted_at')
    .whereNull('ended_at')
    .whereRaw('expires_at > clock_timestamp()')

export type OpenInvitation = {
  id: string
  email: string | null
  role: Role
  /** Null: an operator of the deployment. */
  invitedBy: string | null
  /** Null for an operator and for a former member. */
  inviterEmail: string | null
  createdAt: Date
  expiresAt: Date
}

/** Open invitations, oldest first. */
export async function readInvitations(db: Db, accountId: string): Promise<OpenInvitation[]> {
  const query = openInvitations(db, accountId)
    .leftJoin('app_user as u', 'u.id', 'invitation.invited_by')
    .orderBy('invitation.id')
    .select(
      ...['invitation.id', 'invitation.email', 'invitation.role', 'invited_by as invitedBy'],
      ...['u.email as inviterEmail', 'invitation.created_at as createdAt'],
      'expires_at as expiresAt',
    )
  return selectScoped<OpenInvitation>(db, accountId, query)
}

/**
 * Withdraws an invitation. The transaction is scoped to the account and the acting member.
 *
 * @throws {ServiceError} NOT_FOUND when it is unknown or not open.
 */
export async function endInvitation(trx: Db, accountId: string, id: string): Promise<void> {
  const ended_at = trx.raw('clock_timestamp()')
  const ended = await openInvitations(trx, accountId).where({ id }).update({ ended_at })
  if (ended !== 1) throw new ServiceError('NOT_FOUND', `There is no open invitation ${id}.`)
}

/** The public data of an open invitation. */
export type Invitation = {
  accountId: string
  accountName: string
  email: string | null
  role: Role
  expiresAt: Date
}

/** @throws {ServiceError} NOT_FOUND when it is unknown, used, replaced or expired. */
export async function getInvitation(db: Db, token: string): Promise<Invitation> {
  const digest = tokenDigest(token)
  if (!digest) throw noInvitation()
  const { rows } = await db.raw<{ rows: Invitation[] }>(
    `select account_id as "accountId", account_name as "accountName", email, role,
       expires_at as "expiresAt"
     from find_invitation(?)`,
    [digest],
  )
  if (!rows[0]) throw noInvitation()
  return rows[0]
}

export type Acceptance = {
  /** In lower case. */
  email: string
  name: string
  /** Set for a new user. An existing user has already authenticated. */
  newPasswordHash?: string | undefined
  userId: string
}

export const newUserId = () => newId('user_')

/**
 * Accepts an invitation and creates the membership.
 *
 * @returns The account.
 * @throws {ServiceError} NOT_FOUND as `getInvitation`. INVALID_REQUEST when another member of the account has the
 *   e-mail address.
 */
export async function acceptInvitation(
  db: Db,
  token: string,
  { userId, email, name, newPasswordHash }: Acceptance,
): Promise<string> {
  try {
    const { rows } = await db.raw<{ rows: [{ accountId: string | null }] }>(
      'select accept_invitation(?, ?, ?, ?, ?) as "accountId"',
      [tokenDigest(token) ?? null, userId, email, name, newPasswordHash ?? null],
    )
    const { accountId } = rows[0]
    if (accountId === null) throw noInvitation()
    return accountId
  } catch (error) {
    if ((error as { code?: string }).code !== '23505') throw error
    throw invalidRequest(
      'email',
      'A member of this account has this e-mail already. Use their password, or another e-mail.',
    )
  }
}

function noInvitation(): ServiceError {
  const message =
    'This invitation was used, replaced or withdrawn, or has expired. Ask for a new one.'
  return new ServiceError('NOT_FOUND', message)
}
