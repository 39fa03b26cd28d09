import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findPython } from '../python/environment.js'
import { run } from './programs.js'
import { save, startSavingsApp } from './savings.js'
import { openExample, type Example } from './world.js'

/** The first run on a machine fetches packages. */
const python = await findPython()

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let folder: string
const opened: Example[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steward-examples-'))
  // The stack is started here, not in the time of a test.
  await open()
})
afterAll(async () => {
  for (const example of opened) await example.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Each example takes itself for the only one of its account. */
async function open(): Promise<Example> {
  const example = await openExample()
  opened.push(example)
  return example
}

const runTypeScript = (file: string, { env }: Example) =>
  run(process.execPath, { args: ['--import', 'tsx', file], env })

/** They wait for chains most of the time. */
describe.concurrent('each example, as a reader runs it:', () => {
  test('quickstart.ts: a wallet, test money, and 1 USDC lent over the bridge', async () => {
    const output = await runTypeScript('clients/examples/quickstart.ts', await open())
    expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
  })

  test.skipIf(python === undefined)('quickstart.py: the same', async () => {
    const { env } = await open()
    const output = await run(python ?? '', {
      args: ['clients/examples/quickstart.py'],
      env: { ...env, PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
  })

  test('quickstart.sh: the same', async () => {
    const { env } = await open()
    const output = await run('bash', { args: ['clients/examples/quickstart.sh'], env })
    expect(JSON.parse(output)).toMatchObject({
      status: 'completed',
      results: { completedSteps: 2 },
    })
  })

  test('failures.ts: prints the rejection, the simulated failure with its funds, and the completed retry', async () => {
    const example = await open()
    const output = await runTypeScript('clients/examples/failures.ts', example)
    expect(output.trim().split('\n')).toEqual([
      'refused: this needs 1000 USDC, the wallet has 1',
      'DEPOSIT_FAILED: the money, 0.9999 USDC, is on base-sepolia',
      'completed: 0.9999 USDC',
    ])
    const { address } = await example.steward.wallets.get('bob')
    const { held, lent } = await example.readUsdc(address)
    expect(held).toBe(0n)
    expect(lent).toBeGreaterThanOrEqual(999_899n)
  })

  test('savings-app-ts: a saver signs up, saves, sees what it has earned, and takes everything out', async () => {
    const { env, readUsdc } = await open()
    const app = await startSavingsApp({ env, file: join(folder, 'savings.json') })
    try {
      const { address } = await app.signUp('carol')
      expect(await app.order('carol', 'c-1', save('0.75'))).toMatchObject({ status: 202 })
      expect(await app.untilFinished('c-1')).toMatchObject({ status: 'done' })
      expect(await readUsdc(address)).toMatchObject({ held: 250_000n })

      const account = await app.readSaver('carol')
      expect(account.available).toBe('0.25')
      // What the bridge has kept is not lost by lending: the deposit is what arrived.
      expect(Number(account.saved)).toBeCloseTo(0.7499, 3)
      expect(Number(account.earned)).toBeGreaterThanOrEqual(-0.000001)

      await app.order('carol', 'c-2', { kind: 'withdraw', amount: 'max' })
      expect(await app.untilFinished('c-2')).toMatchObject({ status: 'done' })
      expect(await readUsdc(address)).toMatchObject({ lent: 0n })
      expect(await app.readSaver('carol')).toMatchObject({ saved: '0' })
    } finally {
      await app.kill()
    }
  })
})
