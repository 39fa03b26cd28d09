import { z } from 'zod'
import { roles, type Role } from '../../../domain/roles.js'
import { noParams, noQuery } from '../../http/input.js'
import { idInput, tokenInput } from '../../schemas/dashboard.js'

/** For members of all roles. */
export const anyMember = { params: noParams, query: noQuery, roles }

/** A GET without path parameters, for members of all roles. */
export const anyMemberReads = {
  method: 'get',
  params: noParams,
  body: z.undefined(),
  roles,
} as const

export const owners: readonly Role[] = ['owner']

/** The roles that may create and revoke API keys. */
export const keyMakers: readonly Role[] = ['owner', 'developer']

export const byId = { params: z.object({ id: idInput }), query: noQuery }
export const byToken = { params: z.object({ token: tokenInput }), query: noQuery }
