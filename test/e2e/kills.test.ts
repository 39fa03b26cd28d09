import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, createHome, removeHome, startStack, until, type Stack } from './stack.js'

type Child = { name: string; pid: number }

let home: string
let stack: Stack

beforeAll(async () => {
  home = await createHome()
  stack = await startStack(home)
}, 600_000)

afterAll(async () => {
  await stack?.stop()
  removeHome(home)
})

/** Kills the worker as it is now: serving, on its way up, or just gone. */
function killWorker(): void {
  const children = JSON.parse(readFileSync(join(home, 'children.json'), 'utf8')) as Child[]
  const { pid = 0 } = children.find(({ name }) => name === 'worker') ?? {}
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {
    // It is started again in a moment.
  }
}

test('a role that is killed twelve times in twenty seconds is back, and the stack serves on', async () => {
  const call = createClient(stack.facts)
  for (let kills = 0; kills < 12; kills++) {
    killWorker()
    await sleep(1_600)
    expect((await call('GET', '/wallets')).status).toBe(200)
  }
  const { body: wallet } = await call('POST', '/wallets', { userId: 'alice', metadata: {} })
  expect((await call('POST', '/demo/fund', { walletId: wallet.id })).status).toBe(201)
  const lend = { walletId: wallet.id, action: 'lend', amount: 1, chain: 'arbitrum-sepolia' }
  const { body: intent } = await until(
    () => call('POST', '/intents', lend),
    ({ status }) => status === 201,
  )
  await until(
    () => call('GET', `/intents/${String(intent.id)}`),
    ({ body }) => body.status === 'completed',
  )
  expect(stack.output()).not.toContain('Given up')
}, 180_000)
