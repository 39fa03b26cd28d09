import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { createApiKey } from '../../../db/accounts/accounts.js'
import {
  createClient,
  createHome,
  removeHome,
  startStack,
  until,
  type Stack,
} from '../../e2e/stack.js'

const DAY_MS = 86_400_000
const START_MS = 300_000

let home = ''
let stack: Stack
let db: Db

beforeAll(async () => {
  home = await createHome()
  stack = await startStack(home)
  db = connect(stack.facts.databaseUrl, 1)
}, START_MS)

afterAll(async () => {
  await db.destroy()
  await stack.stop()
  removeHome(home)
})

/** `npm run devnet` against the stack of the test. Returns its output. */
async function devnet(...args: string[]): Promise<string> {
  const command = ['--import', 'tsx', 'dev/devnetCommand.ts', ...args]
  const env = { ...process.env, STEWARD_HOME: home, NO_COLOR: '1' }
  const { stdout } = await promisify(execFile)(process.execPath, command, { env })
  return stdout
}

type Call = ReturnType<typeof createClient>
type Position = { deposited: string; currentValue: string; earned: string }

async function createWallet(call: Call, userId: string): Promise<string> {
  const { body } = await call('POST', '/wallets', { userId })
  return body.id as string
}

async function untilBalance(call: Call, walletId: string, balance: string): Promise<void> {
  const read = () => call('GET', `/balances/${walletId}`)
  await until(read, ({ body }) => JSON.stringify(body).includes(`"balanceFormatted":"${balance}"`))
}

async function create(call: Call, intent: object): Promise<string> {
  const { status, body } = await call('POST', '/intents', intent)
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.id as string
}

const untilStatus = (call: Call, id: string, status: string) =>
  until(
    () => call('GET', `/intents/${id}`),
    ({ body }) => body.status === status,
  )

async function readPosition(call: Call, walletId: string): Promise<Position> {
  const { body } = await call('GET', `/positions/${walletId}`)
  const [position] = body.positions as Position[]
  if (!position) throw new Error('The wallet has no position.')
  return position
}

describe('npm run devnet -- fund', () => {
  test('the wallet holds any amount of any asset on any chain', async () => {
    const call = createClient(stack.facts)
    const walletId = await createWallet(call, 'rich')

    await devnet('fund', 'rich', '1234.5', '--chain', 'base-sepolia')
    const alias = await devnet('fund', walletId, '7', '--chain', 'Ethereum', '--asset', 'tusd')
    expect(alias).toContain('7 TUSD on ethereum-sepolia')

    await untilBalance(call, walletId, '1234.5')
    await untilBalance(call, walletId, '7')
  })

  test.each([
    ['an unknown wallet', ['stranger', '1'], 'No wallet has'],
    ['no amount', ['rich', '0'], 'above zero'],
    ['an asset that the chain does not have', ['rich', '1', '--asset', 'TUSD'], 'has no TUSD'],
    ['an unknown chain', ['rich', '1', '--chain', 'solana'], 'solana is no chain'],
  ])('error: %s', async (_, args, message) => {
    await expect(devnet('fund', ...args)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(message) as string,
    })
  })
})

describe('npm run devnet -- advance', () => {
  test(
    'lent money has earned a month of interest, lends again, and a restart keeps both',
    async () => {
      const call = createClient(stack.facts)
      const walletId = await createWallet(call, 'saver')
      await devnet('fund', 'saver', '1000', '--chain', 'base-sepolia')
      await untilBalance(call, walletId, '1000')
      await untilStatus(
        call,
        await create(call, { walletId, action: 'lend', amount: 600 }),
        'completed',
      )

      await devnet('advance', '30d')

      const { currentValue } = await readPosition(call, walletId)
      // A twelfth of about 4 % on 600 USDC.
      expect(Number(currentValue)).toBeGreaterThan(601.9)
      expect(Number(currentValue)).toBeLessThan(602.1)
      await untilStatus(
        call,
        await create(call, { walletId, action: 'lend', amount: 400 }),
        'completed',
      )
      await db.destroy()
      await stack.stop()
      stack = await startStack(home)
      db = connect(stack.facts.databaseUrl, 1)
      const position = await readPosition(createClient(stack.facts), walletId)
      expect(Number(position.currentValue)).toBeGreaterThan(1_001.9)
      expect(Number(position.earned)).toBeGreaterThan(1.9)
      const again = createClient(stack.facts)
      const all = { walletId, action: 'withdraw', amount: 'max', chain: 'base-sepolia' }
      await untilStatus(again, await create(again, all), 'completed')
    },
    START_MS,
  )

  test('a key that expires within the time is rejected, and a later one is not', async () => {
    const { id } = (await db('account').first<{ id: string }>('id')) ?? { id: '' }
    const keyFor = (days: number) =>
      createApiKey(db, id, { name: `${days}`, expiresAt: new Date(Date.now() + days * DAY_MS) })
    const [short, long] = [await keyFor(2), await keyFor(9)]
    const statusOf = async (apiKey: string) =>
      (await createClient({ ...stack.facts, apiKey })('GET', '/yields')).status
    expect([await statusOf(short), await statusOf(long)]).toEqual([200, 200])

    await devnet('advance', '3d')

    expect([await statusOf(short), await statusOf(long)]).toEqual([401, 200])
  })

  test(
    'a bridge under way is given up, and its money still arrives',
    async () => {
      const call = createClient(stack.facts)
      const walletId = await createWallet(call, 'mover')
      await devnet('fund', 'mover', '50', '--chain', 'base-sepolia')
      await untilBalance(call, walletId, '50')
      const setStuck = (stuck: boolean) =>
        fetch(`${stack.facts.attestationUrl}/dev/faults`, {
          method: 'POST',
          body: JSON.stringify({ stuck }),
        })
      await setStuck(true)
      const bridge = { fromChain: 'base-sepolia', toChain: 'arbitrum-sepolia', amount: 50 }
      const id = await create(call, { walletId, action: 'bridge', ...bridge })
      await until(
        () => call('GET', `/intents/${id}`),
        ({ body }) => (body.waitingFor as { code?: string } | undefined)?.code === 'ATTESTATION',
      )

      await devnet('advance', '3d')

      const { body } = await untilStatus(call, id, 'failed')
      expect(body).toMatchObject({
        error: { code: 'BRIDGE_TIMEOUT', funds: [{ chain: 'bridge' }] },
      })
      await setStuck(false)
      await db.destroy()
      await stack.stop()
      stack = await startStack(home)
      db = connect(stack.facts.databaseUrl, 1)
      const again = createClient(stack.facts)
      await until(
        () => again('GET', `/balances/${walletId}`),
        ({ body: { chains } }) =>
          (chains as { chain: string; tokens: { balance: string }[] }[]).some(
            ({ chain, tokens }) =>
              chain === 'arbitrum-sepolia' && tokens.some(({ balance }) => /^49/.test(balance)),
          ),
      )
    },
    START_MS,
  )

  test('a single day is reported as one', async () => {
    expect(await devnet('advance', '1d')).toContain('1 day has passed.')
  })

  test.each(['30', '0d', '401d', 'month'])('error: %s is no number of days', async (time) => {
    await expect(devnet('advance', time)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is no number of days') as string,
    })
  })

  test('error: no stack is up', async () => {
    await expect(
      promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', 'dev/devnetCommand.ts', 'advance', '1d'],
        { env: { ...process.env, STEWARD_HOME: `${home}/none` } },
      ),
    ).rejects.toMatchObject({ stderr: expect.stringContaining('No stack is up') as string })
  })
})
