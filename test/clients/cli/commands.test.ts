import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setExecuting, setFailed } from '../../../db/intents/status.js'
import { inBlock, insertTestIntent, insertTestOperation, setCompleted } from '../../db/rows.js'
import { formatTime } from '../../../clients/cli/src/terminal/text.js'
import { closedUrl } from '../../planning/chains.js'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { createCliUser, jsonLines, linesOf, onTerminal, type CliUser } from './program.js'

let events: EventWorld
let me: Customer
let user: CliUser

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
})
beforeEach(async () => {
  me = await events.newCustomer()
  user = createCliUser({ STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url })
})
afterEach(() => {
  expect(user.allOutput()).not.toContain(me.key.slice(11, -4))
  user.leave()
})
afterAll(() => events?.stop())

const failure = { code: 'DEPOSIT_FAILED' as const, message: 'The market refused.', step: 1 }
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await user.run([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Record<string, unknown>
}
const db = () => events.world.database.db

describe('steward wallets', () => {
  test('create, get and list print the response of the API as JSON, or a table', async () => {
    const made = await json('wallets', 'create', 'alice', '--metadata', '{"tier":"gold"}')
    expect(made).toMatchObject({ userId: 'alice', metadata: { tier: 'gold' } })
    expect(await json('wallets', 'get', 'alice')).toEqual(made)
    const page = (await json('wallets', 'list', '--limit', '1')) as { data: unknown[] }
    expect(page).toMatchObject({ data: [made], hasMore: true, nextCursor: expect.any(String) })
    const all = (await json('wallets', 'list', '--all')) as { data: unknown[] }
    expect(all).toMatchObject({ data: [made, { id: me.id }], hasMore: false, nextCursor: null })
    const { stdout } = await user.run(['wallets', 'list'])
    const [head, first] = linesOf(stdout)
    expect(head?.split(/ {2,}/)).toEqual(['WALLET', 'USER', 'ADDRESS', 'CREATED'])
    expect(first?.split(/ {2,}/).slice(0, 3)).toEqual([made.id, 'alice', made.address])
  })

  test.each(['', '.', '..'])('get %j is a usage error, and nothing is sent', async (id) => {
    const { code, stdout, stderr } = await user.run(['wallets', 'get', id])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('must not be empty')
    expect(stderr).not.toContain(' at ')
  })

  test('a repeated idempotency key executes and charges the call once', async () => {
    const call = () => json('wallets', 'create', 'bob', '--idempotency-key', `once ${me.id}`)
    const [one, other] = [await call(), await call()]
    expect(other).toEqual(one)
    expect(await json('credits')).toMatchObject({ totalUsed: 1 })
  })

  test('control characters in a user id are not printed', async () => {
    const userId = 'eve\u001b]0;owned\u0007\u009b2J\u202etxt'
    await db()('wallet').where({ id: me.id }).update({ user_id: userId })
    const { stdout } = await user.run(['wallets', 'list'])
    expect(stdout).toContain('eve\ufffd]0;owned\ufffd\ufffd2J\ufffdtxt')
    const raw = await user.run(['wallets', 'list', '--json'])
    // eslint-disable-next-line no-control-regex -- control characters of a terminal
    expect(raw.stdout).not.toMatch(/[\u001b\u009b]/)
    expect(JSON.parse(raw.stdout)).toMatchObject({ data: [{ userId }] })
  })
})

describe('steward intents', () => {
  test('list filters by wallet and status, and get prints one intent', async () => {
    const done = await events.newIntent(me)
    await setExecuting(events.worker, done)
    await setCompleted(events.worker, done)
    await events.newIntent(me)
    const filter = ['--wallet', 'user', '--status', 'completed,failed']
    const page = (await json('intents', 'list', ...filter)) as { data: { id: string }[] }
    expect(page.data.map(({ id }) => id)).toEqual([done])
    const { stdout } = await user.run(['intents', 'get', done])
    expect(stdout).toMatch(/Lent 1 USDC on arbitrum-sepolia/)
    expect(stdout).toContain(done)
    expect(await json('intents', 'get', done)).toMatchObject({ id: done, status: 'completed' })
  })

  test('watch prints each event once, as one line of JSON, and exits with the intent', async () => {
    const id = await events.newIntent(me)
    const watching = user.start(['intents', 'watch', id, '--json'])
    await watching.until((stdout) => linesOf(stdout).length === 2)
    await setExecuting(events.worker, id)
    await watching.until((stdout) => linesOf(stdout).length === 3)
    await setCompleted(events.worker, id)
    const { code, stdout, stderr } = await watching.ended
    expect([code, stderr]).toEqual([0, ''])
    const types = (jsonLines(stdout) as { type: string }[]).map(({ type }) => type)
    const expected = ['created', 'planned', 'executing', 'completed']
    expect(types).toEqual(expected.map((name) => `intent.${name}`))
  })

  test('watch of a failed intent exits with 3 and prints the retry command, once retried none', async () => {
    const id = await events.newIntent(me)
    await setFailed(events.worker, id, failure)
    const { code, stdout } = await user.run(['intents', 'watch', id])
    expect(code).toBe(3)
    expect(stdout).toContain('DEPOSIT_FAILED: The market refused.')
    expect(stdout).toContain(`Retry: steward intents retry ${id}`)
    await json('intents', 'retry', id, '--detach', '--yes')
    const retried = await user.run(['intents', 'watch', id])
    expect(retried.code).toBe(3)
    expect(retried.stdout).toContain('DEPOSIT_FAILED: The market refused.')
    expect(retried.stdout).not.toContain('steward intents retry')
  })

  test('the preview of a retry that exists is that retry', async () => {
    const id = await events.newIntent(me)
    await setFailed(events.worker, id, failure)
    expect(await json('intents', 'get', id)).toMatchObject({ actions: ['retry'] })
    const retry = await json('intents', 'retry', id, '--detach', '--yes')
    expect(await json('intents', 'preview-retry', id)).toMatchObject({ id: retry.id, retryOf: id })
    const preview = await user.run(['intents', 'preview-retry', id])
    expect([preview.code, preview.stdout]).toEqual([
      0,
      expect.stringContaining(`steward intents get ${String(retry.id)}`),
    ])
  })

  test('watch of a failed intent with an unsettled operation prints when the retry succeeds', async () => {
    const id = await events.newIntent(me)
    await setFailed(events.worker, id, failure)
    const indexed = { indexed_block: 9, indexed_hash: '0x', finalized_block: 1 }
    await db()('chain').insert({ id: 421_614, name: 'arbitrum-sepolia', ...indexed })
    const costs = { gas_used: '1', gas_cost_usd: '0' }
    const operation = { ...inBlock, ...costs, state: 'confirmed', success: false }
    await insertTestOperation(db(), me, id, operation)
    const { retryFrom } = await json('intents', 'get', id)
    const { stdout } = await user.run(['intents', 'watch', id])
    const from = formatTime(String(retryFrom))
    expect(stdout).toContain(`Retry from ${from} on: steward intents retry ${id}`)
  })

  test('watch exits with 4 after the timeout and with 130 on Ctrl-C; the intent continues', async () => {
    const id = await events.newIntent(me)
    const late = await user.run(['intents', 'watch', id, '--timeout', '300ms'])
    expect([late.code, late.stderr]).toEqual([4, expect.stringContaining(`watch ${id}`)])
    const watching = user.spawn(['intents', 'watch', id])
    await watching.until((stdout) => stdout.includes('intent.planned'))
    watching.kill('SIGINT')
    const { code, stderr } = await watching.ended
    expect([code, stderr]).toEqual([130, expect.stringContaining(`watch ${id}`)])
    expect(await json('intents', 'get', id)).toMatchObject({ status: 'planning' })
  })

  test('watch redraws the steps in place on a terminal, without colours with NO_COLOR', async () => {
    const id = await events.newIntent(me)
    const env = { STEWARD_API_KEY: me.key, STEWARD_BASE_URL: events.world.api.url }
    const terminal = onTerminal(user, ['intents', 'watch', id], { ...env, NO_COLOR: '1' })
    await terminal.until((shown) => shown.includes('deposit 1 USDC into aave-v3'))
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    const { code, stdout } = await terminal.ended
    expect(code).toBe(0)
    // The cursor moved up to redraw the line in place.
    expect(stdout).toContain('\x1b[1A')
    // eslint-disable-next-line no-control-regex -- colour codes
    expect(stdout).not.toMatch(/\x1b\[\d+m/)
    const end = linesOf(stdout.slice(stdout.lastIndexOf('\x1b[J'))).map((line) => line.trim())
    expect(end.slice(-2)).toEqual([expect.stringContaining('Lent 1 USDC'), id])
  })

  test('error: withdraw and bridge name the missing chain option before any call', async () => {
    const env = { STEWARD_BASE_URL: closedUrl }
    const withdraw = await user.run(['intents', 'withdraw', 'user', 'max'], { env })
    const hinted = expect.stringMatching(/--chain[\s\S]*steward positions user/)
    expect([withdraw.code, withdraw.stderr]).toEqual([1, hinted])
    const preview = await user.run(['intents', 'preview', 'withdraw', 'user', 'max'], { env })
    expect([preview.code, preview.stderr]).toEqual([1, withdraw.stderr])
    const bridge = await user.run(['intents', 'bridge', 'user', '1', '--from', 'base'], { env })
    expect([bridge.code, bridge.stderr]).toEqual([1, expect.stringContaining('--to')])
    const rounded = await user.run(['intents', 'lend', 'user', '1e3'], { env })
    expect([rounded.code, rounded.stderr]).toEqual([1, expect.stringContaining('decimal')])
  })

  test('real money moves only after a confirmation', async () => {
    const profile = { baseUrl: `${events.world.api.url}/v1`, apiKey: me.key, network: 'mainnet' }
    mkdirSync(join(user.home, 'steward'))
    const config = { profiles: { real: profile } }
    writeFileSync(user.file, JSON.stringify(config), { mode: 0o600 })
    const lend = ['intents', 'lend', 'user', '1', '--profile', 'real']
    const unasked = await user.run(lend)
    expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('real money')])
    const terminal = onTerminal(user, lend)
    await terminal.until((shown) => shown.includes('[y/N]'))
    terminal.type('n\r')
    expect(await terminal.ended).toMatchObject({ code: 1 })
    // No chain answers in this test: the intent is stored and planned later.
    const sent = await user.run([...lend, '--yes', '--detach', '--json'])
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'pending', amount: 1 })
    expect(await db()('intent').where({ wallet_id: me.id })).toHaveLength(1)
    const none = await user.run(['trigger', 'wallet.created', '--profile', 'real'])
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('real money')])
  })

  test('cancel stops an intent that is not planned yet', async () => {
    const id = await insertTestIntent(db(), me, 'pending')
    expect(await json('intents', 'cancel', id)).toMatchObject({ id, status: 'failed' })
    const done = await events.newIntent(me)
    await setExecuting(events.worker, done)
    await setCompleted(events.worker, done)
    const late = await user.run(['intents', 'cancel', done])
    expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/already[\s\S]*req_/)])
  })
})

describe('steward errors', () => {
  test('a rejected call prints a hint and the request id of the service log', async () => {
    const { code, stdout, stderr } = await user.spawn(['intents', 'get', 'intent_none']).ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^✗ INTENT_NOT_FOUND: .*\n {2}.*steward intents list\n/)
    const [requestId = 'none'] = /req_[0-9a-z]{26}/.exec(stderr) ?? []
    expect(events.world.api.logText()).toContain(requestId)
  })

  test('--json prints an error as one line of JSON', async () => {
    const { code, stdout, stderr } = await user.run(['wallets', 'get', 'unknown', '--json'])
    expect([code, stdout, linesOf(stderr)]).toEqual([2, '', [expect.any(String)]])
    expect(JSON.parse(stderr)).toMatchObject({
      ...{ error: 'WALLET_NOT_FOUND', exitCode: 2, requestId: expect.stringMatching(/^req_/) },
      hints: [expect.any(String), expect.any(String)],
    })
  })

  test('an unreachable service exits with 5, an invalid command with 1', async () => {
    const env = { STEWARD_BASE_URL: closedUrl }
    const away = await user.run(['wallets', 'create', 'carol'], { env })
    expect([away.code, away.stderr]).toEqual([5, expect.stringContaining('--idempotency-key')])
    for (const args of [
      ['wallet'],
      ['intents', 'lend', 'alice'],
      ['events', 'tail', '--limit', '0'],
    ]) {
      expect((await user.run(args)).code).toBe(1)
    }
  })
})

describe('steward events tail', () => {
  test('prints the events of the given types and wallet, one line of JSON each', async () => {
    const id = await events.newIntent(me)
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    const args = ['events', 'tail', '--after', 'evt_0', '--json']
    const wanted = ['--type', 'intent.planned,intent.completed', '--wallet', 'user', '--limit', '2']
    const { code, stdout } = await user.run([...args, ...wanted])
    const printed = jsonLines(stdout)
    expect([code, printed]).toMatchObject([
      0,
      [{ type: 'intent.planned' }, { type: 'intent.completed' }],
    ])
    const [first] = printed as { id: string }[]
    const rest = await user.run([...args, '--after', first?.id ?? '', '--limit', '2'])
    expect((jsonLines(rest.stdout) as { type: string }[]).map(({ type }) => type)).toEqual([
      ...['intent.executing', 'intent.completed'],
    ])
  })

  test('a wrong key fails at once, without retries', async () => {
    const env = { STEWARD_API_KEY: `svc_sk_${'cd'.repeat(32)}` }
    expect((await user.run(['events', 'tail'], { env })).code).toBe(2)
    const away = await user.run(['events', 'tail'], { env: { STEWARD_BASE_URL: closedUrl } })
    expect(away.code).toBe(5)
  })
})

describe('steward trigger', () => {
  test('error: names the events that cannot be triggered and lists those that can', async () => {
    const late = await user.run(['trigger', 'intent.delayed'])
    expect([late.code, late.stderr]).toEqual([
      1,
      expect.stringMatching(/late[\s\S]*intent.completed/),
    ])
    const unknown = await user.run(['trigger', 'intent.done'])
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Unknown event')])
    const made = await json('trigger', 'wallet.created')
    expect(await db()('wallet').where({ id: made.walletId })).toMatchObject([
      { account_id: me.accountId },
    ])
  })
})
