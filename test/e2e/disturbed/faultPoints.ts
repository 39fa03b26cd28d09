import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { faultPoints, type FaultPoint } from '../../../runtime/faultPoints.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { expectConserved } from '../money.js'
import { until } from '../stack.js'
import type { OwnWorld, Wallet } from '../world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const

/** Work that a killed process leaves half done: a lend on the funded chain, and one over the bridge. */
const lend = { action: 'lend', amount: 1, chain: arbitrum }
const bridgedLend = { action: 'lend', amount: 1, chain: base }

/** Fault points that no plain lend reaches: a bridge, and a stuck transaction. They have tests of their own. */
const elsewhere: FaultPoint[] = [
  'attester: before the message is stored',
  'signer: replacement before the commit',
]
/** Fault points of a step that takes longer than a minute: `test/worker/killedWaiting.deep.test.ts`. */
const ofWaits: FaultPoint[] = [
  'activity: before the wait is marked',
  'activity: before it returns unsettled',
  'worker: before the signal',
  'worker: signalled, still marked',
]
const here = faultPoints.filter((point) => !ofWaits.includes(point))
const ofLends = here.filter((point) => !elsewhere.includes(point))

type FaultPointScene = {
  open: () => OwnWorld
  /** `FAULT_POINT_FILE` of the stack. */
  file: string
}

/** Processes that exit at a point where work is half done. */
export function testFaultPoints({ open, file }: FaultPointScene): void {
  let world: OwnWorld
  beforeAll(() => {
    world = open()
  })

  const arm = (point: FaultPoint) => writeFileSync(file, point)
  const untilCrashed = () =>
    until(
      () => Promise.resolve(existsSync(file)),
      (isArmed) => !isArmed,
    )

  /** Retries the request until it gets a response, as a client does after a broken connection. */
  async function order(wallet: Wallet, body: object): Promise<string> {
    const { apiBaseUrl, apiKey } = world.stack.facts
    const key = `crash-${wallet.id}`
    const post = () =>
      fetch(`${apiBaseUrl}/intents`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ walletId: wallet.id, ...body }),
      }).catch(() => undefined)
    const answer = await until(post, (response) => response?.status === 201)
    return ((await answer?.json()) as { id: string }).id
  }

  async function expectOnce(wallet: Wallet, id: string, kinds: string[]): Promise<void> {
    const finished = await until(
      () => world.call('GET', `/intents/${id}`).catch(() => undefined),
      (answer) => /completed|failed/.test(String(answer?.body.status)),
    )
    expect(finished?.body).toMatchObject({ status: 'completed' })
    expect(await expectConserved(world, wallet)).toBe(0n)
    const intents = await world.db('intent').where({ wallet_id: wallet.id })
    expect(intents).toHaveLength(1)
    const done = await world
      .db('operation')
      .where({ intent_id: id, success: true })
      .orderBy('sequence')
      .orderBy('created_at')
      .pluck('kind')
    expect(done).toEqual(kinds)
  }

  /** Intents that were executing when a process died. */
  const underWay: { point: FaultPoint; wallet: Wallet; id: string; kinds: string[] }[] = []

  /** Drops transactions from the pool of a chain's node before they are mined, as a full pool does. */
  async function evictUntilCrashed(): Promise<void> {
    while (existsSync(file)) {
      await callRpc(world.nodes[base].url, 'anvil_dropAllTransactions')
      await sleep(10)
    }
  }

  describe('a process dies', () => {
    // The dispatching worker dies after the response, and comes back while the next intent begins.
    beforeEach(async () => {
      const ask = () => world.call('GET', '/yields').catch(() => undefined)
      await until(ask, (answer) => answer?.status === 200)
    })

    test.each(ofLends)('%s of a lend', async (point) => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      arm(point)
      const [id] = await Promise.all([order(wallet, lend), untilCrashed()])
      underWay.push({ point, wallet, id, kinds: ['deposit'] })
    })

    test('attester: before the message is stored', async () => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const point = 'attester: before the message is stored'
      arm(point)
      const [id] = await Promise.all([order(wallet, bridgedLend), untilCrashed()])
      underWay.push({ point, wallet, id, kinds: ['bridge', 'mint', 'deposit'] })
    })

    test('relayer: after the broadcast of a mint', async () => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const id = await order(wallet, bridgedLend)
      const findMint = () =>
        world.db('burn').whereNotNull('message').whereIn('operation_id', burnOf(id))
      await until(findMint, ([row]) => row !== undefined)
      const point = 'relayer: after the broadcast'
      arm(point)
      await untilCrashed()
      underWay.push({ point, wallet, id, kinds: ['bridge', 'mint', 'deposit'] })
    })

    test('signer: replacement before the commit', async () => {
      const wallets: Wallet[] = []
      for (let i = 0; i < 3; i++) wallets.push(await world.createWallet({ [base]: '1' }))
      const point = 'signer: replacement before the commit'
      arm(point)
      const evicting = evictUntilCrashed()
      for (const wallet of wallets) {
        const id = await order(wallet, { ...lend, chain: base })
        underWay.push({ point, wallet, id, kinds: ['deposit'] })
        // If a block was faster than the eviction, the transaction is not stuck. Another one may be.
        const isOver = () => isCompleted(id).then((over) => over || !existsSync(file))
        await until(isOver, (over) => over)
        if (!existsSync(file)) break
      }
      await evicting
    })
  })

  const isCompleted = async (id: string) =>
    (await world.db('intent').where({ id }).first<{ status: string }>('status')).status ===
    'completed'

  const burnOf = (id: string) =>
    world.db('operation').where({ intent_id: id, kind: 'bridge' }).select('id')

  test('interrupted intents complete once', async () => {
    expect(new Set(underWay.map(({ point }) => point))).toEqual(new Set(here))
    for (const { wallet, id, kinds } of underWay) await expectOnce(wallet, id, kinds)
  })
}
