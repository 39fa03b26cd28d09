import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemAnswer } from '../../../api/schemas/system.js'
import { tokenDigest } from '../../../db/accounts/sessions.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { startWorld, type ApiWorld } from '../api.js'
import { newPerson, pagesOf, tokenIn } from './people.js'

let world: ApiWorld
let pages: ReturnType<typeof pagesOf>

beforeAll(async () => {
  world = await startWorld()
  pages = pagesOf(world)
})
afterAll(() => world.stop())

const order = { by: 'ada', why: 'a test' }

/** A process of a role as it runs in a deployment: with a login of its own. */
async function signIn(role: 'steward_signer'): Promise<Db> {
  const { database } = world
  await database.db.raw(`alter role ${role} login password 'password'`)
  const url = new URL(database.urlAs(role))
  url.searchParams.delete('options')
  url.username = role
  url.password = 'password'
  const db = connect(url.href, 1)
  await db.raw('select 1')
  return db
}

describe('GET /system', () => {
  test('returns the state over all accounts to an operator', async () => {
    const { cookie } = await newPerson(world, { isOperator: true, role: 'viewer' })
    const { db } = world.database
    const target = { scope: 'deployment', subject: '' } as const
    await pauseWork(db, target, order)
    const signer = await signIn('steward_signer')
    const answer = await pages('GET', '/system', { cookie })
    await resumeWork(db, target, order)
    await signer.destroy()
    expect(answer.status).toBe(200)
    const system = systemAnswer.parse(answer.body)
    expect(system.pauses).toMatchObject([{ ...target, ...order }])
    expect(system.auditLog[0]).toMatchObject({ actor: 'ada', action: 'deployment pause' })
    const sessionsOf = (name: string) => system.roles.find(({ role }) => role === name)
    expect(sessionsOf('signer')).toMatchObject({ sessions: 1, isThere: true })
    expect(sessionsOf('relayer')).toMatchObject({ sessions: 0, isThere: false })
    expect(system.readiness.chains.length).toBeGreaterThan(0)
    const after = systemAnswer.parse((await pages('GET', '/system', { cookie })).body)
    expect(after.pauses).toEqual([])
  })

  test('names chains in pauses and in the audit log', async () => {
    const { cookie } = await newPerson(world, { isOperator: true, role: 'viewer' })
    const { db } = world.database
    const target = { scope: 'chain', subject: '84532' } as const
    await pauseWork(db, target, order)
    const { body } = await pages('GET', '/system', { cookie })
    await resumeWork(db, target, order)
    const { pauses, auditLog } = systemAnswer.parse(body)
    expect(pauses).toMatchObject([{ scope: 'chain', subject: 'base-sepolia' }])
    expect(auditLog[0]).toMatchObject({ action: 'chain pause', subject: 'base-sepolia' })
  })

  test('error: FORBIDDEN for an owner who is not an operator, also by the database', async () => {
    const { cookie } = await newPerson(world)
    const answer = await pages('GET', '/system', { cookie })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ error: 'FORBIDDEN' })
    const { rows } = await world.database.db.raw<{ rows: object[] }>(
      'select read_system(?) as state',
      [tokenDigest(tokenIn(cookie)) ?? null],
    )
    expect(rows).toEqual([{ state: null }])
  })

  test('error: UNAUTHORIZED without a session, and with an API key', async () => {
    expect((await pages('GET', '/system')).status).toBe(401)
    const headers = { authorization: `Bearer ${await world.newKey()}` }
    expect((await pages('GET', '/system', { headers })).status).toBe(401)
  })
})
