import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../../e2e/stack.js'
import { findFreePort, save, startSavingsApp, type ShownOrder, type SavingsApp } from './savings.js'
import { openExample, type ExampleWorld } from './world.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let folder: string
let example: ExampleWorld

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steward-savings-'))
  example = await openExample()
})
afterAll(async () => {
  await example?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Resolves when the intent of the saver executes. */
const untilExecuting = async (app: SavingsApp, userId: string) => {
  const [intent] = await until(
    () => app.listIntents(userId),
    ([found]) => found?.status === 'executing',
  )
  return intent
}

describe('clients/examples/savings-app-ts', () => {
  let app: SavingsApp
  let file: string

  beforeAll(async () => {
    file = join(folder, 'savings.json')
    app = await startSavingsApp({ env: example.env, file })
  })
  afterAll(() => app?.kill())

  test('a repeated order creates one intent; another order with the same id is rejected', async () => {
    await app.signUp('dave')
    const answers = await Promise.all([1, 2, 3].map(() => app.order('dave', 'd-1', save('0.5'))))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(await app.order('dave', 'd-1', save('0.6'))).toMatchObject({ status: 409 })
    await app.untilEnded('d-1')
    expect(await app.listIntents('dave')).toHaveLength(1)
  })

  test('a restart during an intent continues it and creates no second one', async () => {
    const { address } = await app.signUp('erin')
    await app.order('erin', 'e-1', save('1'))
    const intent = await untilExecuting(app, 'erin')
    await app.kill()
    await app.restart()
    expect(await app.untilEnded('e-1')).toMatchObject({ status: 'done', intentId: intent?.id })
    expect(await app.listIntents('erin')).toHaveLength(1)
    expect(await example.readUsdc(address)).toMatchObject({ held: 0n })
  })

  test('a restart before the intent id is stored finds the created intent', async () => {
    await app.signUp('frank')
    const { id: walletId } = await app.steward.wallets.get('frank')
    const made = await app.steward.intents.lend(
      { walletId, amount: '0.4' },
      { idempotencyKey: 'order-f-1' },
    )
    const rows = JSON.parse(readFileSync(file, 'utf8')) as { orders: Record<string, object> }
    await app.kill()
    rows.orders['f-1'] = {
      ...{ id: 'f-1', userId: 'frank', walletId },
      ...save('0.4'),
      status: 'open',
    }
    writeFileSync(file, JSON.stringify(rows))
    await app.restart()
    expect(await app.untilEnded('f-1')).toMatchObject({ status: 'done', intentId: made.id })
    expect(await app.listIntents('frank')).toHaveLength(1)
  })

  test('error: an impossible order fails with its reason and creates no intent', async () => {
    await app.signUp('grace')
    await app.order('grace', 'g-1', save('5'))
    const ended = await app.untilEnded('g-1')
    expect(ended).toMatchObject({ status: 'failed', reason: expect.stringContaining('USDC') })
    expect(await app.listIntents('grace')).toHaveLength(0)
    expect(await app.order('grace', 'g-2', { kind: 'withdraw', amount: '1' })).toMatchObject({
      status: 409,
    })
    expect(await app.order('unknown', 'n-1', save('1'))).toMatchObject({ status: 404 })
    expect(await app.order('grace', 'g-3', { kind: 'spend', amount: '1' })).toMatchObject({
      status: 400,
    })
  })
})

describe('clients/examples/savings-app-ts with webhooks', () => {
  const path = '/webhooks/steward'
  let app: SavingsApp
  let hook: string

  beforeAll(async () => {
    const port = await findFreePort()
    hook = `http://127.0.0.1:${port}${path}`
    const env = { ...example.env, WEBHOOK_URL: hook }
    app = await startSavingsApp({ env, port, file: join(folder, 'hooked.json') })
  })
  afterAll(() => app?.kill())

  test('webhooks complete an order, also across a restart', async () => {
    await app.signUp('heidi')
    await app.order('heidi', 'h-1', save('1'))
    await untilExecuting(app, 'heidi')
    await app.kill()
    await app.restart()
    expect(await app.untilEnded('h-1')).toMatchObject({ status: 'done' })

    const webhooks = []
    for await (const webhook of app.steward.webhooks.list()) webhooks.push(webhook)
    expect(webhooks).toMatchObject([{ url: hook, status: 'enabled' }])
  })

  test('error: an unsigned webhook is rejected and changes nothing', async () => {
    const { body: before } = await app.call<ShownOrder>('GET', '/orders/h-1')
    const forged = { id: 'evt_1', type: 'intent.failed', intentId: before.intentId, data: {} }
    expect(await app.call('POST', path, forged)).toMatchObject({ status: 401 })
    expect((await app.call<ShownOrder>('GET', '/orders/h-1')).body).toEqual(before)
  })
})
