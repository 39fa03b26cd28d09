import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isListening } from '../../dev/ports.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { readHoldings } from './holdings.js'
import { expectConserved, expectTransactions } from './money.js'
import { until } from './stack.js'
import { startWorld, toTold, type World } from './world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const
const services = ['api', 'worker', 'lanes', 'signer'] as const

let folder: string
let temporal: TemporalServer
let world: World

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-temporal-'))
  temporal = await startTemporalServer(undefined, join(folder, 'temporal.db'))
  world = await startWorld({ TEMPORAL_ADDRESS: temporal.address })
}, 600_000)
afterAll(async () => {
  await world?.stop()
  await temporal?.stop()
  await rm(folder, { recursive: true, force: true })
})

const operationOf = (intentId: string) =>
  world
    .db('operation')
    .where({ intent_id: intentId, sequence: 1 })
    .first<{ id: string; state: string; tx_hash: string } | undefined>()
const untilState = (intentId: string, states: string[]) =>
  until(
    () => operationOf(intentId),
    (row) => states.includes(row?.state ?? ''),
  )

/** Ends every role without a word, and waits until others are in their place. */
async function killAll(): Promise<void> {
  const { pids } = world.stack.readFacts()
  for (const service of services) process.kill(pids[service], 'SIGKILL')
  await until(
    () => Promise.resolve(world.stack.readFacts().pids),
    (now) => services.every((service) => now[service] && now[service] !== pids[service]),
  )
}

test('Temporal is away and every role is killed: what is signed is confirmed, what is done completes by its rows, and the rest after', async () => {
  const [lender, crosser] = [
    await world.createWallet({ [arbitrum]: '1' }),
    await world.createWallet({ [arbitrum]: '1' }),
  ]
  // What is signed now is not sent before everything has gone.
  world.signal('lanes', 'SIGSTOP')
  const lend = { action: 'lend', amount: 1 }
  const { id: deposit } = await world.create(lender, { ...lend, chain: arbitrum })
  const { id: crossing } = await world.create(crosser, { ...lend, chain: base })
  for (const id of [deposit, crossing]) await untilState(id, ['signed'])

  await temporal.stop()
  await killAll()
  const ready = await until(
    () => fetch(`${world.stack.facts.hostUrl}/readyz`).catch(() => undefined),
    (answer) => answer?.status === 200,
  )
  expect(await ready?.json()).toMatchObject({ temporal: false, degraded: true })
  for (const id of [deposit, crossing]) {
    const row = await untilState(id, ['confirmed', 'final'])
    const { provider } = world.nodes[arbitrum]
    expect((await provider.getTransactionReceipt(row?.tx_hash ?? ''))?.status).toBe(1)
  }
  // All of it is done, and no workflow is needed to say so.
  const lent = await world.untilOver(deposit)
  expect(lent.status).toBe('completed')
  const { id: burn } = (await operationOf(crossing)) ?? {}
  await until(
    () => world.db('burn').where({ operation_id: burn }).first<{ message: string | null }>(),
    ({ message }) => message !== null,
  )
  expect(toTold(await world.call('GET', `/intents/${crossing}`)).status).toBe('executing')
  expect(await isListening('127.0.0.1', temporal.port)).toBe(false)

  temporal = await startTemporalServer(temporal.port, join(folder, 'temporal.db'))
  await expectTransactions(world, lent, [`deposit ${arbitrum}`])
  const crossed = await world.untilOver(crossing)
  expect(crossed).toMatchObject({ status: 'completed', results: { finalAmount: '0.9999' } })
  await expectTransactions(world, crossed, [
    `bridge ${arbitrum}`,
    `mint ${base}`,
    `deposit ${base}`,
  ])
  for (const wallet of [lender, crosser]) {
    expect(await expectConserved(world, wallet)).toBe(0n)
    expect((await readHoldings(world.nodes[arbitrum], wallet)).usdc).toBe(0n)
  }
}, 300_000)
