import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readCodeBlocks } from '../../../dev/tools/codeBlocks.js'
import { findPython } from '../python/environment.js'
import { run } from './programs.js'
import { save, startSavingsApp } from './savings.js'
import { openExample, type ExampleWorld } from './world.js'

/** The first run on a machine downloads packages. */
const python = await findPython()

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let folder: string
const opened: ExampleWorld[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steward-examples-'))
  // Starts the stack outside the timeout of a test.
  await open()
})
afterAll(async () => {
  for (const example of opened) await example.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Each example expects an account of its own. */
async function open(): Promise<ExampleWorld> {
  const example = await openExample()
  opened.push(example)
  return example
}

const runTypeScript = (file: string, { env }: ExampleWorld) =>
  run(process.execPath, { args: ['--import', 'tsx', file], env })

const runPython = (file: string, { env }: ExampleWorld) =>
  run(python ?? '', {
    args: [file],
    env: { ...env, PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' },
  })

/** What the programs `failures` print. */
const failures = [
  'refused: this needs 1000 USDC, the wallet has 1',
  'DEPOSIT_FAILED: the money, 0.9999 USDC, is on base-sepolia',
  'completed: 0.9999 USDC',
]

/** The examples mostly wait for chains, so they run concurrently. */
describe.concurrent('clients/examples', () => {
  test('quickstart.ts: creates a wallet, funds it, and lends 1 USDC through the bridge', async () => {
    const output = await runTypeScript('clients/examples/quickstart.ts', await open())
    expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
  })

  test.skipIf(python === undefined)(
    'quickstart.py: has the same result as quickstart.ts',
    async () => {
      const output = await runPython('clients/examples/quickstart.py', await open())
      expect(output).toMatch(/^completed: 0\.9999 USDC lent at \d+(\.\d+)? %\n$/)
    },
  )

  test('quickstart.sh: has the same result as quickstart.ts', async () => {
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
    expect(output.trim().split('\n')).toEqual(failures)
    const { address } = await example.steward.wallets.get('bob')
    const { held, lent } = await example.readUsdc(address)
    expect(held).toBe(0n)
    expect(lent).toBeGreaterThanOrEqual(999_899n)
  })

  test.skipIf(python === undefined)('failures.py: prints the same as failures.ts', async () => {
    const output = await runPython('clients/examples/failures.py', await open())
    expect(output.trim().split('\n')).toEqual(failures)
  })

  const programs = {
    follow: /^(evt_\d+ intent\.\w+\n)+intent\.completed \S.*\nsvc_rt_.*… until \S.*\n$/,
    idempotency: /^one intent\n$/,
    webhooks: /^wh_\w+ whsec_\S+\nwebhook\.test pending .*\nwhsec_\S+ \S+/s,
  }
  test.each(Object.entries(programs))(
    '%s: prints the same in TypeScript and Python',
    async (name, printed) => {
      expect(await runTypeScript(`clients/examples/${name}.ts`, await open())).toMatch(printed)
      if (python === undefined) return
      expect(await runPython(`clients/examples/${name}.py`, await open())).toMatch(printed)
    },
  )

  /** The code blocks of a page, in their order, as one program. */
  const blocksOf = (page: string, language: string) =>
    readCodeBlocks(readFileSync(page, 'utf8'))
      .filter((block) => block.language === language)
      .map(({ code }) => code)
      .join('\n')

  test('clients/typescript/README.md: its blocks run as printed', async () => {
    const { env } = await open()
    const code = blocksOf('clients/typescript/README.md', 'ts')
    const args = ['--import', 'tsx', '--input-type=module', '--eval', code]
    const output = await run(process.execPath, { args, env })
    expect(output).toMatch(/evt_\d+ intent\.completed\n/)
    expect(output).toMatch(/whsec_\S+\n$/)
  })

  test.skipIf(python === undefined)(
    'clients/python/README.md: its blocks run as printed',
    async () => {
      const file = join(folder, 'readme.py')
      writeFileSync(file, blocksOf('clients/python/README.md', 'python'))
      const output = await runPython(file, await open())
      expect(output).toMatch(/^intent\.completed\ncompleted \[/m)
      expect(output).toMatch(/^250 0\.5$/m)
    },
  )

  test('savings-app-ts: a saver signs up, saves, sees the earnings, and withdraws everything', async () => {
    const { env, readUsdc } = await open()
    const app = await startSavingsApp({ env, file: join(folder, 'savings.json') })
    try {
      const { address } = await app.signUp('carol')
      expect(await app.order('carol', 'c-1', save('0.75'))).toMatchObject({ status: 202 })
      expect(await app.untilEnded('c-1')).toMatchObject({ status: 'done' })
      expect(await readUsdc(address)).toMatchObject({ held: 250_000n })

      const account = await app.readSaver('carol')
      expect(account.available).toBe('0.25')
      // The deposit is the amount after the bridge fee.
      expect(Number(account.saved)).toBeCloseTo(0.7499, 3)
      expect(Number(account.earned)).toBeGreaterThanOrEqual(-0.000001)

      await app.order('carol', 'c-2', { kind: 'withdraw', amount: 'max' })
      expect(await app.untilEnded('c-2')).toMatchObject({ status: 'done' })
      expect(await readUsdc(address)).toMatchObject({ lent: 0n })
      expect(await app.readSaver('carol')).toMatchObject({ saved: '0' })
    } finally {
      await app.kill()
    }
  })
})
