import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction, id as topicOf, toQuantity, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connect } from '../../db/client/connect.js'
import { listenToOperations } from '../../db/client/listen.js'
import { resumeWork, pauseWork, type PauseTarget } from '../../db/pauses.js'
import { signerStates, watchQueue } from '../../operations/queue.js'
import { driveChain } from '../../relayer/driveChain.js'
import { runSigner } from '../../signer/sign.js'
import { drawsOf } from '../chaos/draws.js'
import { createArrival, type Arrival } from './bridge/crossing.js'
import { expectNoGaps } from './world/scenes/stuck.js'
import { createWorld, usdcUnits, type Submitted, type World } from './world/fixture.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

const seed = process.env.PAUSES_SEED ?? randomBytes(4).toString('hex')
/** PAUSES_SECONDS=300 is the long run. */
const STORM_MS = 1_000 * Number(process.env.PAUSES_SECONDS ?? 20)
const CALM_MS = 90_000
const BLOCK_MS = 250
const ORDER_MS = 120
const [ACCOUNTS, WALLETS] = [3, 4]
const ARRIVALS = 24
const FUNDED = 1_000n * usdcUnits
/** Far more than the interest of the run, and far less than one lend. */
const INTEREST = 1_000n
const order = { by: 'alice', why: 'chaos' }

vi.setConfig({ testTimeout: STORM_MS + CALM_MS + 60_000, hookTimeout: 90_000 })

const USER_OPERATION = topicOf(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
)
const TRANSFER = topicOf('Transfer(address,address,uint256)')
type FullBlock = { transactions: { from: string; hash: string }[] }
type Log = { transactionHash: string }

describe(`pauses (PAUSES_SEED=${seed})`, () => {
  let world: World
  const violations: string[] = []
  /** Hashes that had left when a pause of the whole chain was reported, one set for each such pause. */
  const chainPauses = new Set<Set<string>>()
  const counts: Record<string, number> = {}
  const count = (what: string) => (counts[what] = (counts[what] ?? 0) + 1)

  beforeAll(async () => {
    const changes = { stuckAfter: { seconds: 1, blocks: 4 } }
    world = await createWorld({ senderCount: 2, changes })
  })
  afterAll(() => world?.stop())

  /** Runs a signer and a relayer until the returned function kills them at any point. */
  function startLife(name: string): () => Promise<void> {
    const stopping = new AbortController()
    const { signal } = stopping
    const urlAs = (role: 'signer' | 'relayer') =>
      `${world.database.urlAs(`steward_${role}`)}&application_name=mortal`
    const db = connect(urlAs('signer'))
    const listener = listenToOperations(urlAs('relayer'), signal)
    const client = world.createClient()
    const driving = { url: urlAs('relayer'), client, listener, log: world.log }
    const nextWork = watchQueue(listener, signal, signerStates)
    const running = [
      runSigner({ ...world.createSigner(name), db }, nextWork, signal),
      driveChain(driving, signal),
    ]
    return async () => {
      await world.db.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'mortal'`,
      )
      stopping.abort()
      await Promise.allSettled(running)
      await db.destroy()
    }
  }

  async function killRepeatedly(until: number): Promise<void> {
    const draws = drawsOf(seed, 'kills')
    for (let life = 1; Date.now() < until; life++) {
      const kill = startLife(`life ${life}`)
      await sleep(draws.between(2_000, 7_000))
      await kill()
    }
  }

  /** Mines blocks. During the storm transactions are dropped and blocks reorganised. */
  async function runChain(until: number, stopping: AbortSignal): Promise<void> {
    const draws = drawsOf(seed, 'chain')
    while (!stopping.aborted) {
      await sleep(BLOCK_MS)
      await world.mine()
      if (Date.now() > until || draws.next() < 0.9) continue
      if (draws.next() < 0.5) await world.rpc('anvil_reorg', [draws.between(1, 2), []])
      else await world.rpc('anvil_dropAllTransactions')
    }
  }

  const readLeft = async () =>
    new Set(await world.db('chain_tx_send').whereNotNull('leaving_at').pluck<string[]>('hash'))
  const readHead = async () => Number(await world.rpc<string>('eth_blockNumber'))

  /** Hashes in these blocks that belong to the scope, read from the chain. */
  async function readReached(target: PauseTarget, blocks: [from: number, to: number]) {
    const [from, to] = blocks
    if (target.scope === 'chain' || target.scope === 'deployment') {
      const ours = [...world.senders, world.treasury.address].map((one) => one.toLowerCase())
      const numbers = Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i)
      const found = await Promise.all(
        numbers.map((at) =>
          world.rpc<FullBlock | null>('eth_getBlockByNumber', [toQuantity(at), true]),
        ),
      )
      const all = found.flatMap((block) => block?.transactions ?? [])
      return all.filter((tx) => ours.includes(tx.from.toLowerCase())).map(({ hash }) => hash)
    }
    const addresses = wallets
      .filter(({ id, accountId }) => target.subject === id || target.subject === accountId)
      .map(({ address }) => zeroPadValue(address, 32).toLowerCase())
    const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
    const payer = zeroPadValue(world.treasury.address, 32).toLowerCase()
    const logs = await Promise.all(
      [
        [USER_OPERATION, null, addresses],
        // Payments of the treasury. Minted money may arrive.
        [TRANSFER, payer, addresses],
      ].map((topics) => world.rpc<Log[]>('eth_getLogs', [{ ...range, topics }])),
    )
    return logs.flat().map(({ transactionHash }) => transactionHash)
  }

  /** Pauses and resumes random targets. Between, nothing of the scope reaches the chain that had not left before. */
  async function pauseRepeatedly(
    source: string,
    until: number,
    targets: PauseTarget[],
  ): Promise<void> {
    const draws = drawsOf(seed, source)
    while (Date.now() < until) {
      await sleep(draws.between(100, 1_500))
      const target = draws.pick(targets.map((one) => [one, 1] as const))
      await pauseWork(world.db, target, order)
      const left = await readLeft()
      const from = (await readHead()) + 1
      const isWhole = target.scope === 'chain' || target.scope === 'deployment'
      if (isWhole) chainPauses.add(left)
      await sleep(draws.between(300, 3_000))
      const reached = await readReached(target, [from, await readHead()])
      chainPauses.delete(left)
      await resumeWork(world.db, target, order)
      count(target.scope)
      counts.checked = (counts.checked ?? 0) + reached.length
      for (const hash of reached) {
        if (!left.has(hash)) violations.push(`${hash} after ${target.scope} ${target.subject}`)
      }
    }
  }

  /** The endpoint sees what leaves before the chain does. */
  const watchEndpoint = () =>
    world.proxy.set(({ method, params: [raw] }) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      const { hash } = Transaction.from(String(raw))
      for (const left of chainPauses) if (!left.has(hash ?? '')) violations.push(`${hash} was sent`)
      return undefined
    })

  const wallets: StoredWallet[] = []
  const submitted: Submitted[] = []
  const expected = new Map<string, { lent: bigint; received: bigint }>()

  /** Burned money that is still to be minted. */
  const arrivals: Arrival[] = []

  async function orderOne(): Promise<void> {
    const kind = draws.pick([
      ['lend', 12],
      ['fund', 2],
      ['mint', 1],
    ] as const)
    const arrival = kind === 'mint' ? arrivals.pop() : undefined
    const wallet = arrival?.wallet ?? draws.pick(wallets.map((one) => [one, 1] as const))
    const known = expected.get(wallet.id) ?? { lent: 0n, received: 0n }
    if (arrival) submitted.push(await world.submit(arrival.order))
    else if (kind === 'fund') submitted.push(await world.fund(wallet))
    else submitted.push(await world.lend(wallet, usdcUnits))
    const isReceived = arrival !== undefined || kind === 'fund'
    known[isReceived ? 'received' : 'lent'] += usdcUnits
    expected.set(wallet.id, known)
    count(arrival ? 'mint' : kind === 'fund' ? 'fund' : 'lend')
  }
  const draws = drawsOf(seed, 'orders')

  const readOpen = () =>
    world
      .db('operation')
      .whereIn(
        'id',
        submitted.map(({ operationId }) => operationId),
      )
      .whereNotIn('state', ['confirmed', 'final'])
      .select<{ id: string; state: string; message: string | null }[]>('id', 'state', 'message')

  /** Submits deferred operations again, like the activities. */
  async function submitAgain(): Promise<number> {
    const open = await readOpen()
    for (const { operationId, order: same } of submitted) {
      const isDeferred = open.some(({ id, state }) => id === operationId && state === 'deferred')
      if (isDeferred) await world.submit(same)
    }
    return open.length
  }

  test('after each pause or freeze nothing of its scope reaches the chain, and in the end everything has happened once', async () => {
    for (let i = 0; i < ACCOUNTS; i++) {
      const { id } = await world.createAccount('enterprise')
      wallets.push(...(await world.createWallets(WALLETS, FUNDED, id)))
    }
    for (let i = 0; i < ARRIVALS; i++) {
      const wallet = wallets[i % wallets.length] as StoredWallet
      arrivals.push(await createArrival(world, wallet, usdcUnits))
    }
    // Below any reorg of the test, so that the wallets keep their money.
    await world.mine(64)
    await world.index()
    await world.driver().db.destroy()
    watchEndpoint()
    const until = Date.now() + STORM_MS
    const ending = new AbortController()
    const chain = runChain(until, ending.signal)
    const accounts = [...new Set(wallets.map(({ accountId }) => accountId))]
    const storm = [
      killRepeatedly(until),
      pauseRepeatedly(
        'wallets',
        until,
        wallets.map(({ id }) => ({ scope: 'wallet', subject: id })),
      ),
      pauseRepeatedly(
        'accounts',
        until,
        accounts.map((subject) => ({ scope: 'account', subject })),
      ),
      pauseRepeatedly('whole', until, [
        { scope: 'chain', subject: String(world.chain.chainId) },
        { scope: 'deployment', subject: '' },
      ]),
    ]
    while (Date.now() < until) {
      await orderOne()
      await submitAgain()
      await sleep(ORDER_MS)
    }
    await Promise.all(storm)

    process.stdout.write(`pauses ${seed}: ${violations.length} violations\n`)
    const kill = startLife('last')
    await world
      .waitUntil(async () => (await submitAgain()) === 0, CALM_MS)
      .catch(async (late: unknown) => {
        process.stdout.write(`open ${JSON.stringify(await readOpen())}\n`)
        throw late
      })
    await kill()
    ending.abort()
    await chain

    const { rows } = await world.db.raw<{ rows: { n: string }[] }>(
      `select count(*) as n from chain_tx_send where n > 1`,
    )
    counts.replaced = Number(rows[0]?.n)
    counts.transactions = (await world.transactions()).length
    process.stdout.write(`pauses ${seed}: ${JSON.stringify(counts)}\n`)
    expect(violations).toEqual([])
    for (const { id, address } of wallets) {
      const { lent, received } = expected.get(id) ?? { lent: 0n, received: 0n }
      const deposited = await world.deposited(address)
      // Markets round against the lender, by a unit each time.
      expect(deposited).toBeGreaterThanOrEqual(lent - 1_000n)
      expect(deposited).toBeLessThan(lent + INTEREST)
      expect(await world.usdcOf(address)).toBe(FUNDED - lent + received)
    }
    await expectNoGaps(world)
  })
})
