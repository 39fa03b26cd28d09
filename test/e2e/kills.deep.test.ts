import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Steward } from '@steward/sdk'
import { createHome, removeHome, startStack, type Stack } from './stack.js'

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
  const { apiKey, apiBaseUrl: baseUrl } = stack.facts
  const steward = new Steward({ apiKey, baseUrl })
  for (let kills = 0; kills < 12; kills++) {
    killWorker()
    await sleep(1_600)
    await steward.wallets.list({}, { maxRetries: 0 })
  }
  const wallet = await steward.wallets.create({ userId: 'alice', metadata: {} })
  const funding = await steward.demo.fund(wallet.id)
  await steward.demo.waitForCompletion(funding.id)
  const lend = { walletId: wallet.id, amount: 1, chain: 'arbitrum-sepolia' }
  const intent = await steward.intents.lend(lend)
  expect(await steward.intents.waitForCompletion(intent.id)).toMatchObject({ status: 'completed' })
  expect(stack.output()).not.toContain('Given up')
}, 180_000)
