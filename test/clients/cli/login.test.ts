import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mkdirSync, readFileSync, statSync, writeFileSync, chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { closedUrl } from '../../planning/chains.js'
import { createCliUser, onTerminal, type CliUser } from './program.js'

let events: EventWorld
let url: string
let me: Customer
let user: CliUser

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
  url = events.world.api.url
})
beforeEach(async () => {
  me = await events.newCustomer()
  user = createCliUser()
})
afterEach(() => {
  user.leave()
})
afterAll(() => events?.stop())

const login = (key = me.key, ...more: string[]) =>
  user.run(['login', '--key-stdin', '--base-url', url, ...more], { input: `${key}\n` })
const modeOf = (file: string) => statSync(file).mode & 0o777
const stored = () => JSON.parse(readFileSync(user.file, 'utf8')) as { profiles: object }
const unknownKey = `svc_sk_${'ab'.repeat(32)}`

describe('steward login', () => {
  test('stores a valid key readable only by its owner, and never prints it', async () => {
    const { code, stdout, stderr } = await login()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Logged in to ${url}/v1 (testnet, plan pro, 10000 credits left)`)
    expect([modeOf(user.file), modeOf(join(user.home, 'steward'))]).toEqual([0o600, 0o700])
    const profile = { baseUrl: `${url}/v1`, apiKey: me.key, network: 'testnet' }
    expect(stored()).toEqual({ profiles: { default: profile } })
    const credits = await user.run(['credits', '--json'])
    expect(JSON.parse(credits.stdout)).toMatchObject({ balance: 9999, plan: 'pro' })
    expect(user.allOutput()).not.toContain(me.key.slice(11, -4))
  })

  test('error: an unknown or malformed key is not stored', async () => {
    const refused = await login(unknownKey)
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toMatch(/UNAUTHORIZED[\s\S]*steward login[\s\S]*req_/)
    const wrong = await login('sk_live_123')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('svc_sk_')])
    expect(() => statSync(user.file)).toThrow('ENOENT')
    expect(user.allOutput()).not.toContain('abab')
  })

  test('error: names the service of the login, also when the profile is stored for another one', async () => {
    await login()
    const other = { default: { baseUrl: `${closedUrl}/v1`, apiKey: me.key } }
    writeFileSync(user.file, JSON.stringify({ profiles: other }))
    const env = { STEWARD_BASE_URL: url }
    const { stderr } = await user.run(['login', '--key-stdin'], { env, input: `${unknownKey}\n` })
    expect(stderr).toContain(`Documentation: ${url}/docs/errors#`)
  })

  test('error: a key on the command line is rejected and not printed', async () => {
    const calls = [['login', me.key], ['credits', `--api-key=${me.key}`], [me.key]]
    const answers = await Promise.all(calls.map((args) => user.run(args)))
    for (const { code, stderr } of answers) {
      expect([code, stderr]).toEqual([1, expect.stringContaining('history of your shell')])
    }
    expect(user.allOutput()).not.toContain(me.key.slice(7, 20))
  })

  test('asks for the key on a terminal without echoing it', async () => {
    const terminal = onTerminal(user, ['login', '--base-url', url])
    await terminal.until((shown) => shown.includes('not shown'))
    // A typing mistake and a backspace.
    terminal.type(`${me.key}x\x7f\r`)
    const { code, stdout } = await terminal.ended
    expect([code, stdout]).toEqual([0, expect.stringContaining('Logged in')])
    expect(stdout).not.toContain(me.key.slice(7, 20))
    expect(stored()).toMatchObject({ profiles: { default: { apiKey: me.key } } })
  })

  test('Ctrl-C at the prompt exits and stores nothing', async () => {
    const terminal = onTerminal(user, ['login', '--base-url', url])
    await terminal.until((shown) => shown.includes('not shown'))
    terminal.type('\x03')
    expect((await terminal.ended).code).toBe(130)
    expect(() => statSync(user.file)).toThrow('ENOENT')
  })

  test('stores several named logins, and logout deletes one of them', async () => {
    const other = await events.newCustomer()
    await login()
    await login(other.key, '--profile', 'other')
    const keyOf = async (name: string) => {
      const { code, stdout } = await user.run(['wallets', 'list', '--json', '--profile', name])
      return [code, (JSON.parse(stdout) as { data: { id: string }[] }).data[0]?.id]
    }
    expect(await keyOf('default')).toEqual([0, me.id])
    expect(await keyOf('other')).toEqual([0, other.id])
    expect((await user.run(['logout'])).code).toBe(0)
    expect(Object.keys(stored().profiles)).toEqual(['other'])
    const without = await user.run(['credits'])
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('steward login')])
  })

  test('--devnet uses the devnet of the checkout', async () => {
    const home = join(user.home, 'devnet')
    mkdirSync(home)
    const facts = { apiBaseUrl: `${url}/v1`, apiKey: me.key }
    writeFileSync(join(home, 'dev.json'), JSON.stringify(facts))
    const env = { STEWARD_HOME: home }
    const hint = await user.run(['credits'], { env })
    expect([hint.code, hint.stderr]).toEqual([1, expect.stringContaining('steward login --devnet')])
    expect((await user.run(['login', '--devnet'], { env })).code).toBe(0)
    expect((await user.run(['credits'])).code).toBe(0)
    const away = await user.run(['login', '--devnet'])
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('npm start')])
  })
})

describe('a stored key', () => {
  test('error: is not sent to another address', async () => {
    await login()
    let requests = 0
    const stranger = createServer((_request, response) => {
      requests += 1
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as AddressInfo
    const answer = await user.run(['credits', '--base-url', `http://127.0.0.1:${port}`])
    stranger.close()
    expect([answer.code, requests]).toEqual([1, 0])
    expect(answer.stderr).toContain('is not sent to another address')
  })

  test('readable by other users causes a warning, and the next login restricts the file', async () => {
    await login()
    chmodSync(user.file, 0o644)
    const { code, stderr } = await user.run(['credits'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('chmod 600')])
    await login()
    expect(modeOf(user.file)).toBe(0o600)
  })

  test('yields to the key of the environment, unless the profile is named', async () => {
    await login()
    const env = { STEWARD_API_KEY: unknownKey, STEWARD_BASE_URL: url }
    expect((await user.run(['credits'], { env })).code).toBe(2)
    expect((await user.run(['credits', '--profile', 'default'], { env })).code).toBe(0)
    const nowhere = await user.run(['credits'], { env: { STEWARD_API_KEY: unknownKey } })
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('STEWARD_BASE_URL')])
  })

  test('error: a broken configuration file is reported', async () => {
    mkdirSync(join(user.home, 'steward'))
    writeFileSync(user.file, '{"profiles":')
    const { code, stderr } = await user.run(['credits'])
    expect([code, stderr]).toEqual([1, expect.stringContaining(user.file)])
  })
})
