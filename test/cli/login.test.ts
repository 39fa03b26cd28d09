import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mkdirSync, readFileSync, statSync, writeFileSync, chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { startEventWorld, type Customer, type EventWorld } from '../api/endpoints/events/world.js'
import { createPerson, onTerminal, type Person } from './program.js'

let events: EventWorld
let url: string
let me: Customer
let person: Person

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
  url = events.world.api.url
})
beforeEach(async () => {
  me = await events.newCustomer()
  person = createPerson()
})
afterEach(() => {
  person.leave()
})
afterAll(() => events?.stop())

const login = (key = me.key, ...more: string[]) =>
  person.run(['login', '--key-stdin', '--base-url', url, ...more], { input: `${key}\n` })
const modeOf = (file: string) => statSync(file).mode & 0o777
const stored = () => JSON.parse(readFileSync(person.file, 'utf8')) as { profiles: object }
const unknownKey = `svc_sk_${'ab'.repeat(32)}`

describe('steward login', () => {
  test('keeps a key that works for its owner only, and says it nowhere', async () => {
    const { code, stdout, stderr } = await login()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Logged in to ${url}/v1 (testnet, plan pro, 10000 credits left)`)
    expect([modeOf(person.file), modeOf(join(person.home, 'steward'))]).toEqual([0o600, 0o700])
    const profile = { baseUrl: `${url}/v1`, apiKey: me.key, network: 'testnet' }
    expect(stored()).toEqual({ profiles: { default: profile } })
    const credits = await person.run(['credits', '--json'])
    expect(JSON.parse(credits.stdout)).toMatchObject({ balance: 9999, plan: 'pro' })
    expect(person.heard()).not.toContain(me.key.slice(11, -4))
  })

  test('keeps no key that is refused, and none that is none', async () => {
    const refused = await login(unknownKey)
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toMatch(/UNAUTHORIZED[\s\S]*steward login[\s\S]*req_/)
    const wrong = await login('sk_live_123')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('svc_sk_')])
    expect(() => statSync(person.file)).toThrow('ENOENT')
    expect(person.heard()).not.toContain('abab')
  })

  test('refuses a key on the command line, wherever it stands, and does not repeat it', async () => {
    const calls = [['login', me.key], ['credits', `--api-key=${me.key}`], [me.key]]
    const answers = await Promise.all(calls.map((args) => person.run(args)))
    for (const { code, stderr } of answers) {
      expect([code, stderr]).toEqual([1, expect.stringContaining('history of your shell')])
    }
    expect(person.heard()).not.toContain(me.key.slice(7, 20))
  })

  test('asks for the key on a terminal, where it is not seen', async () => {
    const terminal = onTerminal(person, ['login', '--base-url', url])
    await terminal.until((shown) => shown.includes('not shown'))
    // A slip, taken back.
    terminal.type(`${me.key}x\x7f\r`)
    const { code, stdout } = await terminal.ended
    expect([code, stdout]).toEqual([0, expect.stringContaining('Logged in')])
    expect(stdout).not.toContain(me.key.slice(7, 20))
    expect(stored()).toMatchObject({ profiles: { default: { apiKey: me.key } } })
  })

  test('Ctrl-C at the question ends it, and nothing is kept', async () => {
    const terminal = onTerminal(person, ['login', '--base-url', url])
    await terminal.until((shown) => shown.includes('not shown'))
    terminal.type('\x03')
    expect((await terminal.ended).code).toBe(130)
    expect(() => statSync(person.file)).toThrow('ENOENT')
  })

  test('has as many logins as one names, and logout forgets one of them', async () => {
    const other = await events.newCustomer()
    await login()
    await login(other.key, '--profile', 'other')
    const keyOf = async (name: string) => {
      const { code, stdout } = await person.run(['wallets', 'list', '--json', '--profile', name])
      return [code, (JSON.parse(stdout) as { data: { id: string }[] }).data[0]?.id]
    }
    expect(await keyOf('default')).toEqual([0, me.id])
    expect(await keyOf('other')).toEqual([0, other.id])
    expect((await person.run(['logout'])).code).toBe(0)
    expect(Object.keys(stored().profiles)).toEqual(['other'])
    const without = await person.run(['credits'])
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('steward login')])
  })

  test('finds the devnet of the checkout when it is asked to', async () => {
    const home = join(person.home, 'devnet')
    mkdirSync(home)
    const facts = { apiBaseUrl: `${url}/v1`, apiKey: me.key }
    writeFileSync(join(home, 'dev.json'), JSON.stringify(facts))
    const env = { STEWARD_HOME: home }
    const hint = await person.run(['credits'], { env })
    expect([hint.code, hint.stderr]).toEqual([1, expect.stringContaining('steward login --devnet')])
    expect((await person.run(['login', '--devnet'], { env })).code).toBe(0)
    expect((await person.run(['credits'])).code).toBe(0)
    const away = await person.run(['login', '--devnet'])
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('npm start')])
  })
})

describe('a key that is kept', () => {
  test('goes to no other address than its own', async () => {
    await login()
    let requests = 0
    const stranger = createServer((_request, response) => {
      requests += 1
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as AddressInfo
    const answer = await person.run(['credits', '--base-url', `http://127.0.0.1:${port}`])
    stranger.close()
    expect([answer.code, requests]).toEqual([1, 0])
    expect(answer.stderr).toContain('is sent nowhere else')
  })

  test('that others can read is used with a warning, and the next login closes the file', async () => {
    await login()
    chmodSync(person.file, 0o644)
    const { code, stderr } = await person.run(['credits'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('chmod 600')])
    await login()
    expect(modeOf(person.file)).toBe(0o600)
  })

  test('gives way to that of the environment, and comes back by its name', async () => {
    await login()
    const env = { STEWARD_API_KEY: unknownKey, STEWARD_BASE_URL: url }
    expect((await person.run(['credits'], { env })).code).toBe(2)
    expect((await person.run(['credits', '--profile', 'default'], { env })).code).toBe(0)
    const nowhere = await person.run(['credits'], { env: { STEWARD_API_KEY: unknownKey } })
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('STEWARD_BASE_URL')])
  })

  test('in a file that is broken is not guessed at', async () => {
    mkdirSync(join(person.home, 'steward'))
    writeFileSync(person.file, '{"profiles":')
    const { code, stderr } = await person.run(['credits'])
    expect([code, stderr]).toEqual([1, expect.stringContaining(person.file)])
  })
})
