import { createAccount } from '../../../db/accounts/accounts.js'
import { inviteMember } from '../../../db/accounts/invitations.js'
import type { Role } from '../../../domain/roles.js'
import type { Tier } from '../../../domain/tiers.js'
import type { ApiResponse, ApiWorld } from '../api.js'

export const PASSWORD = 'correct horse battery'

export type PageRequest = { cookie?: string; body?: unknown; headers?: object }

/** The dashboard's endpoints as its pages call them: same origin, with a cookie. */
export function pagesOf({ api }: Pick<ApiWorld, 'api'>) {
  return (
    method: string,
    path: string,
    { cookie, body, headers }: PageRequest = {},
  ): Promise<ApiResponse> =>
    api.call(method, `/dashboard/api${path}`, {
      ...(body === undefined ? {} : { body }),
      headers: { ...(cookie ? { cookie } : {}), origin: api.url, ...headers },
    })
}

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieOf = ({ headers }: ApiResponse): string =>
  headers.getSetCookie()[0]?.split(';')[0] ?? ''

/** The token in a cookie. */
export const tokenIn = (cookie: string): string => cookie.split('=')[1] ?? ''

export type Person = { email: string; userId: string; cookie: string; accountId: string }

let people = 0

/** An account, and one who has followed an invitation to it. */
export async function newPerson(
  world: ApiWorld,
  { role = 'owner', accountId, isOperator = false, plan = 'pro' }: PersonOptions = {},
  headers: object = {},
): Promise<Person> {
  const { db } = world.database
  const account = accountId ?? (await createAccount(db, { name: 'test', plan })).id
  const email = `person${(people += 1)}@example.com`
  const { token } = await inviteMember(db, { accountId: account, email, role, isOperator })
  const body = { name: `Person ${people}`, password: PASSWORD }
  const answer = await pagesOf(world)('POST', `/invitations/${token}/accept`, {
    ...{ body, headers },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  const { user } = answer.body as unknown as { user: { id: string } }
  return { email, userId: user.id, cookie: cookieOf(answer), accountId: account }
}

type PersonOptions = { role?: Role; accountId?: string; isOperator?: boolean; plan?: Tier }
