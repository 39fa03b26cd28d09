import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createServer } from 'node:http'
import { mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { createApiKey } from '../../db/tenants/accounts.js'
import { setExecuting, setFailed } from '../../db/intents/status.js'
import { insertTestIntent, setCompleted } from '../db/rows.js'
import { closedUrl } from '../planning/chains.js'
import { startEventWorld, type Customer, type EventWorld } from '../api/endpoints/events/world.js'
import { createPerson, jsonLines, linesOf, onTerminal, type Person } from './program.js'

let events: EventWorld
let me: Customer
let person: Person

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
})
beforeEach(async () => {
  me = await events.newCustomer()
  person = createPerson({ STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url })
})
afterEach(() => {
  expect(person.heard()).not.toContain(me.key.slice(11, -4))
  person.leave()
})
afterAll(() => events?.stop())

const failure = { code: 'DEPOSIT_FAILED' as const, message: 'The market refused.', step: 1 }
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await person.run([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Record<string, unknown>
}
const db = () => events.world.database.db

describe('steward wallets', () => {
  test('create, get and list tell what the API tells, and a table to people', async () => {
    const made = await json('wallets', 'create', 'alice', '--metadata', '{"tier":"gold"}')
    expect(made).toMatchObject({ userId: 'alice', metadata: { tier: 'gold' } })
    expect(await json('wallets', 'get', 'alice')).toEqual(made)
    const page = (await json('wallets', 'list', '--limit', '1')) as { data: unknown[] }
    expect(page).toMatchObject({ data: [made], hasMore: true, nextCursor: expect.any(String) })
    const all = (await json('wallets', 'list', '--all')) as { data: unknown[] }
    expect(all).toMatchObject({ data: [made, { id: me.id }], hasMore: false, nextCursor: null })
    const { stdout } = await person.run(['wallets', 'list'])
    const [head, first] = linesOf(stdout)
    expect(head?.split(/ {2,}/)).toEqual(['WALLET', 'USER', 'ADDRESS', 'CREATED'])
    expect(first?.split(/ {2,}/).slice(0, 3)).toEqual([made.id, 'alice', made.address])
  })

  test('one name for a call has it done and charged once', async () => {
    const call = () => json('wallets', 'create', 'bob', '--idempotency-key', `once ${me.id}`)
    const [one, other] = [await call(), await call()]
    expect(other).toEqual(one)
    expect(await json('credits')).toMatchObject({ totalUsed: 1 })
  })

  test('what would move the cursor or retitle the window is not passed on', async () => {
    const userId = 'eve\u001b]0;owned\u0007\u009b2J\u202etxt'
    await db()('wallet').where({ id: me.id }).update({ user_id: userId })
    const { stdout } = await person.run(['wallets', 'list'])
    expect(stdout).toContain('eve\ufffd]0;owned\ufffd\ufffd2J\ufffdtxt')
    const raw = await person.run(['wallets', 'list', '--json'])
    // eslint-disable-next-line no-control-regex -- what a terminal would obey
    expect(raw.stdout).not.toMatch(/[\u001b\u009b]/)
    expect(JSON.parse(raw.stdout)).toMatchObject({ data: [{ userId }] })
  })
})

describe('steward intents', () => {
  test('list and get tell intents, of one wallet and by status', async () => {
    const done = await events.newIntent(me)
    await setExecuting(events.worker, done)
    await setCompleted(events.worker, done)
    await events.newIntent(me)
    const filter = ['--wallet', 'user', '--status', 'completed,failed']
    const page = (await json('intents', 'list', ...filter)) as { data: { id: string }[] }
    expect(page.data.map(({ id }) => id)).toEqual([done])
    const { stdout } = await person.run(['intents', 'get', done])
    expect(stdout).toMatch(/Lent 1 USDC on arbitrum-sepolia/)
    expect(stdout).toContain(done)
    expect(await json('intents', 'get', done)).toMatchObject({ id: done, status: 'completed' })
  })

  test('watch tells each event once, as a line of JSON, and ends with the intent', async () => {
    const id = await events.newIntent(me)
    const watching = person.start(['intents', 'watch', id, '--json'])
    await watching.until((told) => linesOf(told).length === 2)
    await setExecuting(events.worker, id)
    await watching.until((told) => linesOf(told).length === 3)
    await setCompleted(events.worker, id)
    const { code, stdout, stderr } = await watching.ended
    expect([code, stderr]).toEqual([0, ''])
    const types = (jsonLines(stdout) as { type: string }[]).map(({ type }) => type)
    const told = ['created', 'planned', 'executing', 'completed'].map((name) => `intent.${name}`)
    expect(types).toEqual(told)
  })

  test('watch of one that fails ends with 3, and says where to go on', async () => {
    const id = await events.newIntent(me)
    await setFailed(events.worker, id, failure)
    const { code, stdout } = await person.run(['intents', 'watch', id])
    expect(code).toBe(3)
    expect(stdout).toContain('DEPOSIT_FAILED: The market refused.')
    expect(stdout).toContain(`steward intents retry ${id}`)
  })

  test('watch ends with 4 when its time is over, with 130 on Ctrl-C; the intent goes on', async () => {
    const id = await events.newIntent(me)
    const late = await person.run(['intents', 'watch', id, '--timeout', '300ms'])
    expect([late.code, late.stderr]).toEqual([4, expect.stringContaining(`watch ${id}`)])
    const watching = person.spawn(['intents', 'watch', id])
    await watching.until((told) => told.includes('intent.planned'))
    watching.kill('SIGINT')
    const { code, stderr } = await watching.ended
    expect([code, stderr]).toEqual([130, expect.stringContaining(`watch ${id}`)])
    expect(await json('intents', 'get', id)).toMatchObject({ status: 'planning' })
  })

  test('watch draws the steps in place on a terminal, without colours when asked', async () => {
    const id = await events.newIntent(me)
    const person2 = { STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url }
    const terminal = onTerminal(person, ['intents', 'watch', id], { ...person2, NO_COLOR: '1' })
    await terminal.until((shown) => shown.includes('deposit 1 USDC into aave-v3'))
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    const { code, stdout } = await terminal.ended
    expect(code).toBe(0)
    // One line, drawn anew in its place: the cursor went up, and the line is not repeated below.
    expect(stdout).toContain('\x1b[1A')
    // eslint-disable-next-line no-control-regex -- colours begin with it
    expect(stdout).not.toMatch(/\x1b\[\d+m/)
    const end = linesOf(stdout.slice(stdout.lastIndexOf('\x1b[J'))).map((line) => line.trim())
    expect(end.slice(-2)).toEqual([expect.stringContaining('Lent 1 USDC'), id])
  })

  test('withdraw and bridge say which chain is missing before anything is sent', async () => {
    const { STEWARD_API_KEY } = { STEWARD_API_KEY: me.key }
    const env = { STEWARD_API_KEY, STEWARD_BASE_URL: closedUrl }
    const withdraw = await person.run(['intents', 'withdraw', 'user', 'max'], { env })
    expect([withdraw.code, withdraw.stderr]).toEqual([1, expect.stringContaining('--chain')])
    const bridge = await person.run(['intents', 'bridge', 'user', '1', '--from', 'base'], { env })
    expect([bridge.code, bridge.stderr]).toEqual([1, expect.stringContaining('--to')])
    const rounded = await person.run(['intents', 'lend', 'user', '1e3'], { env })
    expect([rounded.code, rounded.stderr]).toEqual([1, expect.stringContaining('decimal')])
  })

  test('real money moves only when somebody says yes', async () => {
    const profile = { baseUrl: `${events.world.api.url}/v1`, apiKey: me.key, network: 'mainnet' }
    mkdirSync(join(person.home, 'steward'))
    const config = { profiles: { real: profile } }
    writeFileSync(person.file, JSON.stringify(config), { mode: 0o600 })
    const lend = ['intents', 'lend', 'user', '1', '--profile', 'real']
    const unasked = await person.run(lend)
    expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('real money')])
    const terminal = onTerminal(person, lend)
    await terminal.until((shown) => shown.includes('[y/N]'))
    terminal.type('n\r')
    expect(await terminal.ended).toMatchObject({ code: 1 })
    // No chain answers here: what is sent is stored, and planned later.
    const sent = await person.run([...lend, '--yes', '--detach', '--json'])
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'pending', amount: 1 })
    expect(await db()('intent').where({ wallet_id: me.id })).toHaveLength(1)
    const none = await person.run(['trigger', 'wallet.created', '--profile', 'real'])
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('real money')])
  })

  test('cancel stops one that waits for its plan', async () => {
    const id = await insertTestIntent(db(), me, 'pending')
    expect(await json('intents', 'cancel', id)).toMatchObject({ id, status: 'failed' })
    const done = await events.newIntent(me)
    await setExecuting(events.worker, done)
    await setCompleted(events.worker, done)
    const late = await person.run(['intents', 'cancel', done])
    expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/already[\s\S]*req_/)])
  })
})

describe('what is refused', () => {
  test('names the request, which the log of the service knows, and what to do', async () => {
    const { code, stdout, stderr } = await person.spawn(['intents', 'get', 'intent_none']).ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^✗ INTENT_NOT_FOUND: .*\n {2}.*steward intents list\n/)
    const [requestId = 'none'] = /req_[0-9a-z]{26}/.exec(stderr) ?? []
    expect(events.world.api.logText()).toContain(requestId)
  })

  test('is one line of JSON for programs', async () => {
    const { code, stdout, stderr } = await person.run(['wallets', 'get', 'nobody', '--json'])
    expect([code, stdout, linesOf(stderr)]).toEqual([2, '', [expect.any(String)]])
    expect(JSON.parse(stderr)).toMatchObject({
      ...{ error: 'WALLET_NOT_FOUND', exitCode: 2, requestId: expect.stringMatching(/^req_/) },
      hints: [expect.any(String), expect.any(String)],
    })
  })

  test('a service that is not there ends with 5; a command that is none with 1', async () => {
    const env = { STEWARD_BASE_URL: closedUrl }
    const away = await person.run(['wallets', 'create', 'carol'], { env })
    expect([away.code, away.stderr]).toEqual([5, expect.stringContaining('--idempotency-key')])
    for (const args of [
      ['wallet'],
      ['intents', 'lend', 'alice'],
      ['events', 'tail', '--limit', '0'],
    ]) {
      expect((await person.run(args)).code).toBe(1)
    }
  })
})

describe('steward events tail', () => {
  test('tells events of the kinds and wallets that are named, a line of JSON each', async () => {
    const id = await events.newIntent(me)
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    const args = ['events', 'tail', '--after', 'evt_0', '--json']
    const wanted = ['--type', 'intent.planned,intent.completed', '--wallet', 'user', '--limit', '2']
    const { code, stdout } = await person.run([...args, ...wanted])
    const told = jsonLines(stdout)
    expect([code, told]).toMatchObject([
      0,
      [{ type: 'intent.planned' }, { type: 'intent.completed' }],
    ])
    const [first] = told as { id: string }[]
    const rest = await person.run([...args, '--after', first?.id ?? '', '--limit', '2'])
    expect((jsonLines(rest.stdout) as { type: string }[]).map(({ type }) => type)).toEqual([
      ...['intent.executing', 'intent.completed'],
    ])
  })

  test('a wrong key is told at once, not tried for ever', async () => {
    const env = { STEWARD_API_KEY: `svc_sk_${'cd'.repeat(32)}` }
    expect((await person.run(['events', 'tail'], { env })).code).toBe(2)
    const away = await person.run(['events', 'tail'], { env: { STEWARD_BASE_URL: closedUrl } })
    expect(away.code).toBe(5)
  })
})

describe('steward doctor', () => {
  const checksOf = (text: string) => {
    const { checks } = JSON.parse(text) as { checks: { check: string; outcome: string }[] }
    return Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]))
  }

  test('finds everything in order, but what stands in for Temporal', async () => {
    const { code, stdout } = await person.run(['doctor', '--json'])
    const ok = ['program', 'address', 'reachable', 'clock', 'key', 'scope', 'network', 'stream']
    const wanted = Object.fromEntries(ok.map((check) => [check, 'ok']))
    expect([code, checksOf(stdout)]).toEqual([0, { ...wanted, ready: 'warning' }])
    expect(await db()('intent').where({ wallet_id: me.id })).toEqual([])
  })

  test('sees a key that may read only, and one that is not valid', async () => {
    const reading = { name: 'reads', scopes: ['read' as const] }
    const key = await createApiKey(db(), me.accountId, reading)
    const reader = await person.run(['doctor', '--json'], { env: { STEWARD_API_KEY: key } })
    expect([reader.code, checksOf(reader.stdout)]).toMatchObject([0, { scope: 'warning' }])
    const env = { STEWARD_API_KEY: `svc_sk_${'ef'.repeat(32)}` }
    const nobody = await person.run(['doctor'], { env })
    expect([nobody.code, nobody.stdout]).toEqual([2, expect.stringMatching(/✗ key +is not valid/)])
    expect(nobody.stdout).not.toContain('scope')
  })

  test('sees what is no service, a clock that is wrong, and what does not answer', async () => {
    const state = { ready: true, postgres: true, signer: true, temporal: true, degraded: false }
    const date = new Date(Date.now() - 600_000).toUTCString()
    const front = createServer((request, response) => {
      const isReady = request.url === '/readyz'
      response.writeHead(isReady ? 200 : 404, { date }).end(isReady ? JSON.stringify(state) : '')
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const { port } = front.address() as AddressInfo
    const STEWARD_BASE_URL = `http://127.0.0.1:${port}`
    const slow = await person.run(['doctor', '--json'], { env: { STEWARD_BASE_URL } })
    expect([slow.code, checksOf(slow.stdout)]).toMatchObject([
      2,
      { clock: 'warning', key: 'failed' },
    ])
    const base = { STEWARD_BASE_URL: `${STEWARD_BASE_URL}/other/v1` }
    const other = await person.run(['doctor', '--json'], { env: base })
    front.close()
    expect([other.code, checksOf(other.stdout)]).toMatchObject([5, { reachable: 'failed' }])
    const away = await person.run(['doctor', '--json'], { env: { STEWARD_BASE_URL: closedUrl } })
    expect([away.code, checksOf(away.stdout)]).toMatchObject([5, { reachable: 'failed' }])
  })
})

describe('steward trigger', () => {
  test('says plainly what it cannot make happen, and what it can', async () => {
    const late = await person.run(['trigger', 'intent.delayed'])
    expect([late.code, late.stderr]).toEqual([
      1,
      expect.stringMatching(/late[\s\S]*intent.completed/),
    ])
    const unknown = await person.run(['trigger', 'intent.done'])
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no event')])
    const made = await json('trigger', 'wallet.created')
    expect(await db()('wallet').where({ id: made.walletId })).toMatchObject([
      { account_id: me.accountId },
    ])
  })
})
