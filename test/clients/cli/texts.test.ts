import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endpoints } from '../../../api/routes.js'
import { inCommands } from '../../../clients/cli/src/apiTexts.js'
import { startWorld, type ApiWorld } from '../../api/api.js'
import { createCliUser, type CliUser } from './program.js'

let world: ApiWorld
let key: string
let user: CliUser

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
beforeEach(() => {
  user = createCliUser({ STEWARD_API_KEY: key, STEWARD_BASE_URL: world.api.url })
})
afterEach(() => user.leave())
afterAll(() => world?.stop())

describe('an unknown command', () => {
  test.each([
    ['lend alice 5', 'lend', 'steward intents lend'],
    ['withdraw', 'withdraw', 'steward intents withdraw'],
    ['intent lend alice 5', 'intent', 'steward intents lend'],
    ['intents lent alice 5', 'intents lent', 'steward intents lend'],
    ['wallets lend alice 5', 'wallets lend', 'steward intents lend'],
    ['balance alice', 'balance', 'steward balances'],
    ['wallet create alice', 'wallet', 'steward wallets create'],
    ['tail', 'tail', 'steward events tail'],
    ['list', 'list', 'steward wallets list, steward intents list, steward webhooks list'],
  ])('steward %s: names the nearest commands', async (line, unknown, near) => {
    const { code, stdout, stderr } = await user.run(line.split(' '))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`✗ Unknown command ${unknown}.\n  Did you mean: ${near}?\n`)
  })

  test('that resembles none: names the help', async () => {
    const { code, stderr } = await user.run(['teleport', 'alice'])
    expect([code, stderr]).toEqual([
      1,
      '✗ Unknown command teleport.\n  List the commands: steward --help\n',
    ])
  })
})

describe('inCommands', () => {
  const host = 'https://steward.example'
  /** Endpoints that no command calls. */
  const others = ['createReadToken', 'getFunding', 'getReadiness']

  test('names the command of each endpoint, which the program has', async () => {
    for (const { method, spec } of [...endpoints.versioned, ...endpoints.unversioned]) {
      const path = endpoints.unversioned.some((one) => one.spec === spec)
        ? spec.path
        : `/v1${spec.path}`
      const endpoint = `${method.toUpperCase()} ${path}`
      const text = inCommands(`Send \`${endpoint}\` first.`, host)
      const [, command] = /^Send `steward ([^`]+)` first\.$/.exec(text) ?? []
      if (others.includes(spec.docs.operationId)) {
        expect(text).toBe(`Send ${method.toUpperCase()} ${host}${path} first.`)
        continue
      }
      const words = command?.split(' ').filter((word) => /^[a-z]/.test(word)) ?? [endpoint]
      const help = await user.run([...words, '--help'])
      expect([help.code, help.stdout]).toEqual([
        0,
        expect.stringContaining(`Usage: steward ${words.join(' ')} [options]`),
      ])
    }
  })

  test.each([
    ['See /docs.', 'See https://steward.example/docs.'],
    ['`POST /v1/intents/intent_01/retry`', '`steward intents retry <intentId>`'],
    ['`POST /v1/intents?dryRun=true`', '`steward intents lend <wallet> <amount>`'],
    ['with the same Idempotency-Key.', 'with the same --idempotency-key.'],
    ['either 1/2 or and/or', 'either 1/2 or and/or'],
  ])('%s', (text, shown) => {
    expect(inCommands(text, host)).toBe(shown)
  })
})

describe('an error of the API', () => {
  test.each(['balances carol', 'balances svc_wallet_none', 'intents get intent_none', 'fund bob'])(
    'steward %s: names commands and full addresses, no paths',
    async (line) => {
      const { code, stderr } = await user.run(line.split(' '))
      expect(code).toBe(2)
      expect(stderr).toContain(`Documentation: ${world.api.url}/docs/errors#`)
      expect(stderr).not.toMatch(/(GET|POST|\s)`? \/|[\s`]\/(v1|docs)/)
      if (line.includes('carol')) expect(stderr).toContain('`steward wallets create <userId>`')
    },
  )
})
