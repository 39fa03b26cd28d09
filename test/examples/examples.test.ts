import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Steward } from '@steward/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../e2e/stack.js'
import { readHoldings, sum } from '../e2e/holdings.js'
import { startWorld, type OwnWorld } from '../e2e/world.js'
import { findPython } from '../sdk/python/environment.js'
import { run, startProgram, type Program } from './programs.js'

/** The first run on a machine fetches packages. */
const python = await findPython()
const testWithPython = python === undefined ? test.skip : test

/** A stack and a program beside it, on whatever machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let world: OwnWorld
let steward: Steward
let folder: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steward-examples-'))
  world = await startWorld()
  const { apiKey, apiBaseUrl } = world.stack.facts
  env = { STEWARD_API_KEY: apiKey, STEWARD_BASE_URL: apiBaseUrl }
  steward = new Steward({ apiKey, baseUrl: apiBaseUrl })
}, 600_000)
afterAll(async () => {
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const runTypeScript = (file: string) =>
  run(process.execPath, { args: ['--import', 'tsx', file], env })

/** Base units of USDC that a wallet has and has lent, on all chains. */
async function readUsdc(address: string) {
  const all = await Promise.all(
    Object.values(world.nodes).map((node) => readHoldings(node, { address })),
  )
  return {
    held: sum(all.map(({ usdc }) => usdc)),
    lent: sum(all.map(({ aave, comet, vault }) => aave + comet + vault)),
  }
}

describe('the quickstart', () => {
  test('TypeScript: a wallet, test money, and 1 USDC lent over the bridge', async () => {
    const output = await runTypeScript('examples/quickstart.ts')
    expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
  })

  testWithPython('Python: the same', async () => {
    const output = await run(python ?? '', {
      args: ['examples/quickstart.py'],
      env: { ...env, PYTHONPATH: 'sdk/python/src', PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
  })

  test('curl: the same', async () => {
    const output = await run('bash', { args: ['examples/quickstart.sh'], env })
    expect(JSON.parse(output)).toMatchObject({
      status: 'completed',
      results: { completedSteps: 2 },
    })
  })
})

describe('examples/failures.ts', () => {
  test('is refused, fails as it was told to, says where the money is, and completes by a retry', async () => {
    const output = await runTypeScript('examples/failures.ts')
    expect(output.trim().split('\n')).toEqual([
      'refused: this needs 1000 USDC, the wallet has 1',
      'DEPOSIT_FAILED: the money, 0.9999 USDC, is on base-sepolia',
      'completed: 0.9999 USDC',
    ])
    const { address } = await steward.wallets.get('bob')
    const { held, lent } = await readUsdc(address)
    expect(held).toBe(0n)
    expect(lent).toBeGreaterThanOrEqual(999_899n)
  })
})

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

type Order = { id: string; status: string; intentId?: string; reason?: string }
type App = { program: Program; call: ReturnType<typeof createCaller> }

const createCaller =
  (url: string) =>
  async <Body>(method: 'GET' | 'POST', path: string, body?: object) => {
    const sent = body ? { body: JSON.stringify(body) } : {}
    const response = await fetch(url + path, { method, ...sent })
    return { status: response.status, body: (await response.json()) as Body }
  }

describe('examples/savings-app-ts', () => {
  let app: App
  let file: string

  let port: number
  let told: NodeJS.ProcessEnv = {}

  beforeAll(async () => {
    file = join(folder, 'savings.json')
    port = await findFreePort()
    app = await startApp()
  })
  afterAll(() => app?.program.kill('SIGKILL'))

  async function startApp(): Promise<App> {
    const program = startProgram(process.execPath, {
      args: ['--import', 'tsx', 'src/main.ts'],
      folder: 'examples/savings-app-ts',
      env: { ...env, ...told, PORT: String(port), STORE_FILE: file },
    })
    const url = await until(
      () => Promise.resolve(/Savings at (\S+)/.exec(program.output())?.[1]),
      (found) => found !== undefined || program.code() !== null,
    )
    if (!url) throw new Error(`The app did not start:\n${program.output()}`)
    return { program, call: createCaller(url) }
  }

  /** As after a crash: nothing that the process has in memory is left. */
  async function restart(): Promise<void> {
    await app.program.kill('SIGKILL')
    app = await startApp()
  }

  type Account = { address: string; available: string; saved: string; earned: string }
  const readAccount = async (userId: string) =>
    (await app.call<Account>('GET', `/savers/${userId}`)).body

  async function signUp(userId: string): Promise<Account> {
    expect(await app.call('POST', '/savers', { userId })).toMatchObject({ status: 201 })
    return until(
      () => readAccount(userId),
      ({ available }) => available === '1',
    )
  }

  const order = (userId: string, orderId: string, wish: object) =>
    app.call<Order>('POST', `/savers/${userId}/orders`, { orderId, ...wish })
  const save = (amount: string) => ({ kind: 'save', amount })

  const untilOver = async (id: string) =>
    until(
      async () => (await app.call<Order>('GET', `/orders/${id}`)).body,
      ({ status }) => status !== 'open',
    )

  async function listIntents(userId: string) {
    const { id: walletId } = await steward.wallets.get(userId)
    const intents = []
    for await (const intent of steward.intents.list({ walletId })) intents.push(intent)
    return intents
  }

  test('a saver signs up, saves, sees what it has earned, and takes everything out', async () => {
    const { address } = await signUp('carol')
    expect(await order('carol', 'c-1', save('0.75'))).toMatchObject({ status: 202 })
    expect(await untilOver('c-1')).toMatchObject({ status: 'done' })
    expect(await readUsdc(address)).toMatchObject({ held: 250_000n })

    const account = await readAccount('carol')
    expect(account.available).toBe('0.25')
    // What the bridge has kept is not lost by lending: the deposit is what arrived.
    expect(Number(account.saved)).toBeCloseTo(0.7499, 3)
    expect(Number(account.earned)).toBeGreaterThanOrEqual(-0.000001)

    await order('carol', 'c-2', { kind: 'withdraw', amount: 'max' })
    expect(await untilOver('c-2')).toMatchObject({ status: 'done' })
    expect(await readUsdc(address)).toMatchObject({ lent: 0n })
    expect(await readAccount('carol')).toMatchObject({ saved: '0' })
  })

  test('the same order twice is one; another one under its id is refused', async () => {
    await signUp('dave')
    const answers = await Promise.all([1, 2, 3].map(() => order('dave', 'd-1', save('0.5'))))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(await order('dave', 'd-1', save('0.6'))).toMatchObject({ status: 409 })
    await untilOver('d-1')
    expect(await listIntents('dave')).toHaveLength(1)
  })

  test('killed in the middle of an intent: goes on with it, and makes no second one', async () => {
    const { address } = await signUp('erin')
    await world.setFaults({ stuck: true })
    await order('erin', 'e-1', save('1'))
    const [intent] = await until(
      () => listIntents('erin'),
      ([found]) => found?.status === 'executing',
    )
    await restart()
    await world.setFaults({ stuck: false })
    expect(await untilOver('e-1')).toMatchObject({ status: 'done', intentId: intent?.id })
    expect(await listIntents('erin')).toHaveLength(1)
    expect(await readUsdc(address)).toMatchObject({ held: 0n })
  })

  test('killed before it has heard of its intent: finds the one that it has made', async () => {
    await signUp('frank')
    const { id: walletId } = await steward.wallets.get('frank')
    const made = await steward.intents.lend(
      { walletId, amount: '0.4' },
      { idempotencyKey: 'order-f-1' },
    )
    const rows = JSON.parse(readFileSync(file, 'utf8')) as { orders: Record<string, object> }
    await app.program.kill('SIGKILL')
    rows.orders['f-1'] = {
      ...{ id: 'f-1', userId: 'frank', walletId },
      ...save('0.4'),
      status: 'open',
    }
    writeFileSync(file, JSON.stringify(rows))
    app = await startApp()
    expect(await untilOver('f-1')).toMatchObject({ status: 'done', intentId: made.id })
    expect(await listIntents('frank')).toHaveLength(1)
  })

  test('what cannot be done fails with its reason, and costs no intent', async () => {
    await signUp('grace')
    await order('grace', 'g-1', save('5'))
    const over = await untilOver('g-1')
    expect(over).toMatchObject({ status: 'failed', reason: expect.stringContaining('USDC') })
    expect(await listIntents('grace')).toHaveLength(0)
    expect(await order('grace', 'g-2', { kind: 'withdraw', amount: '1' })).toMatchObject({
      status: 409,
    })
    expect(await order('nobody', 'n-1', save('1'))).toMatchObject({ status: 404 })
    expect(await order('grace', 'g-3', { kind: 'spend', amount: '1' })).toMatchObject({
      status: 400,
    })
  })

  describe('told by webhooks', () => {
    const path = '/webhooks/steward'

    beforeAll(async () => {
      told = { WEBHOOK_URL: `http://127.0.0.1:${port}${path}` }
      await restart()
    })

    test('an order is done when Steward says so, also after a restart in between', async () => {
      await signUp('heidi')
      await world.setFaults({ stuck: true })
      await order('heidi', 'h-1', save('1'))
      await until(
        () => listIntents('heidi'),
        ([found]) => found?.status === 'executing',
      )
      await restart()
      expect((await app.call<Order>('GET', '/orders/h-1')).body.status).toBe('open')
      await world.setFaults({ stuck: false })
      expect(await untilOver('h-1')).toMatchObject({ status: 'done' })

      const webhooks = []
      for await (const webhook of steward.webhooks.list()) webhooks.push(webhook)
      expect(webhooks).toMatchObject([{ url: told.WEBHOOK_URL, status: 'enabled' }])
    })

    test('what Steward has not signed is refused, and changes nothing', async () => {
      const { body: before } = await app.call<Order>('GET', '/orders/h-1')
      const forged = { id: 'evt_1', type: 'intent.failed', intentId: before.intentId, data: {} }
      expect(await app.call('POST', path, forged)).toMatchObject({ status: 401 })
      expect((await app.call<Order>('GET', '/orders/h-1')).body).toEqual(before)
    })
  })
})
