import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities, type Activities } from '../../activities/index.js'
import { createRegistry } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { operationId } from '../../operations/operationId.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { outcomesByHand } from '../support/outcomes.js'
import type { DepositStep } from '../../domain/intent/intent.js'

const HOUR_MS = 3_600_000
const chainId = 421_614

let database: TestDatabase
let proxy: TcpProxy
/** A connection with the worker's role, through a proxy that can cut it. */
let db: Db
let wallet: TestWallet
let intentId: string

beforeAll(async () => {
  database = await createDatabase()
  const url = new URL(database.urlAs('steward_worker'))
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
  url.host = `127.0.0.1:${proxy.port}`
  db = connect(url.href)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
  intentId = await insertTestIntent(database.db, wallet, 'executing')
})
afterAll(async () => {
  proxy?.set('open')
  await db?.destroy()
  await proxy?.stop()
  await database?.drop()
})

const step: DepositStep = {
  ...{ type: 'deposit', sequence: 1, chain: 'arbitrum-sepolia', protocol: 'aave-v3' },
  ...{ market: '0x01', asset: 'USDC', amount: '1' },
}
const inputOf = (deadlineMs = Date.now() + HOUR_MS) => ({
  ...{ intentId, accountId: wallet.accountId, walletId: wallet.id, step, deadlineMs },
})

/**
 * One attempt of an activity, in a worker that stops. `whileWaiting` runs during its wait for the relayer, if given.
 */
function attempt<Name extends keyof Activities>(
  name: Name,
  input: object,
  whileWaiting?: () => void,
): Promise<unknown> {
  const nextChange = () => Promise.resolve(whileWaiting?.())
  const stopping = whileWaiting ? new AbortController().signal : AbortSignal.abort()
  const activities = createActivities({
    ...{ db, outcomes: outcomesByHand(nextChange), registry: createRegistry('testnet') },
    chains: { list: [], byId: () => Promise.reject(new Error('no chain')) as never },
    ...{ bridgeGiveUpMs: HOUR_MS, stopping },
  })
  const activity = activities[name] as (one: object) => Promise<unknown>
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  return environment.run(activity, input)
}
const failureOf = async (attempted: Promise<unknown>) => {
  const failure: unknown = await attempted.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(failure instanceof ApplicationFailure)) throw new Error(`No failure: ${String(failure)}`)
  return failure
}
const operations = () =>
  database.db('operation').where({ intent_id: intentId }).select<Record<string, unknown>[]>()
const change = (id: string, values: object) => database.db('operation').where({ id }).update(values)
const inBlock = {
  ...{ block_number: 7, block_hash: '0x07', tx_hash: '0xtx', log_index: 0 },
  ...{ gas_used: 1, gas_cost_usd: 0, units: '1000000' },
}

describe('an activity that loses its database', () => {
  test('in the middle is retried, and finds its operation', async () => {
    const cut = () => proxy.set('closed')
    const failure = await failureOf(attempt('deposit', inputOf(), cut))
    proxy.set('open')
    expect(failure).toMatchObject({ type: 'INTERNAL' })
    expect(failure.nonRetryable ?? false).toBe(false)
    const id = operationId(intentId, 1, 'deposit')
    expect(await operations()).toMatchObject([{ id, state: 'queued' }])
    await change(id, { state: 'confirmed', success: true, ...inBlock })
    expect(await attempt('deposit', inputOf())).toMatchObject({ txHash: '0xtx', units: '1000000' })
    expect(await operations()).toHaveLength(1)
  })

  test('from the start is retried, without details of the database in its failure', async () => {
    const bridge = { ...step, type: 'bridge', from: 'base-sepolia', to: 'arbitrum-sepolia' }
    const crossing = { ...inputOf(), step: { ...bridge, protocol: 'cctp', speed: 'fast' } }
    const inputs: [keyof Activities, object][] = [
      ['planIntent', { intentId }],
      ...(['deposit', 'withdraw', 'swap'] as const).map(
        (name) => [name, inputOf()] as [typeof name, object],
      ),
      ...(['bridge', 'awaitAttestation', 'mint'] as const).map(
        (name) => [name, { ...crossing, nonce: '0x01' }] as [typeof name, object],
      ),
      ['fund', { fundingId: 'fund_1', deadlineMs: Infinity }],
      ['finalizeIntent', { intentId, failure: { code: 'DEPOSIT_FAILED', message: 'test' } }],
    ]
    proxy.set('closed')
    const failures = await Promise.all(
      inputs.map(async ([name, input]) => ({
        name,
        failure: await failureOf(attempt(name, input)),
      })),
    )
    proxy.set('open')
    for (const { name, failure } of failures) {
      const { type, nonRetryable, message } = failure
      expect({ name, type, nonRetryable: nonRetryable ?? false }).toEqual({
        ...{ name, type: 'INTERNAL', nonRetryable: false },
      })
      expect(message).toMatch(/^Unexpected \w+\.$/)
    }
    const row = await database.db('intent').where({ id: intentId }).first<object>()
    expect(row).toMatchObject({ status: 'executing', error: null })
    expect(await operations()).toEqual([])
  })
})

describe('a step after its deadline', () => {
  test('expires while it is unsigned', async () => {
    const failure = await failureOf(attempt('deposit', inputOf(Date.now() - 1)))
    expect(failure).toMatchObject({ type: 'NETWORK_ERROR', nonRetryable: true })
    expect(await operations()).toMatchObject([{ state: 'cancelled' }])
  })

  test.each(['signed', 'mined'])(
    'is waited for once it is %s: its log alone ends it',
    async (state) => {
      const id = operationId(intentId, 1, 'deposit')
      const values = state === 'mined' ? { success: false, ...inBlock } : {}
      await insertTestOperation(database.db, wallet, intentId, { id, state, ...values })
      const failure = await failureOf(attempt('deposit', inputOf(Date.now() - HOUR_MS)))
      expect(failure.type).toBe('WAITING')
      expect(failure.nonRetryable ?? false).toBe(false)
      expect(await operations()).toMatchObject([{ state }])
    },
  )

  test('does not expire before its deadline, although it is deferred', async () => {
    const id = operationId(intentId, 1, 'deposit')
    const later = { code: 'RPC_ERROR', retry_after: new Date(Date.now() + HOUR_MS) }
    await insertTestOperation(database.db, wallet, intentId, { id, state: 'deferred', ...later })
    const failure = await failureOf(attempt('deposit', inputOf()))
    expect(failure.type).toBe('WAITING')
    expect(await operations()).toMatchObject([{ state: 'deferred' }])
  })
})

describe('a step', () => {
  test('error: CANCELLED when its intent has finished, and no operation is stored', async () => {
    const error = { code: 'CANCELLED', message: 'test' }
    intentId = await insertTestIntent(database.db, wallet, 'failed', { error })
    const failure = await failureOf(attempt('deposit', inputOf()))
    expect(failure).toMatchObject({ type: 'CANCELLED', nonRetryable: true })
    expect(await operations()).toEqual([])
  })

  test('with a source step waits for its output, and spends exactly that', async () => {
    const fedBy = { sequence: 1, kind: 'swap' as const }
    const input = { ...inputOf(), step: { ...step, sequence: 2 }, fedBy }
    const { plan } = await database
      .db('intent')
      .where({ id: intentId })
      .first<{ plan: { steps: object[] } }>('plan')
    const steps = [{ ...step, type: 'swap' }, input.step]
    await database
      .db('intent')
      .where({ id: intentId })
      .update({ plan: { ...plan, steps } })
    const id = operationId(intentId, 1, 'swap')
    await insertTestOperation(database.db, wallet, intentId, { id, kind: 'swap' })
    const failure = await failureOf(attempt('deposit', input))
    expect(failure.type).toBe('WAITING')
    expect(await operations()).toHaveLength(1)
    await change(id, { state: 'confirmed', success: true, ...inBlock, units: '999999' })
    await failureOf(attempt('deposit', input))
    const ordered = await database.db('operation').where({ intent_id: intentId, sequence: 2 })
    expect(ordered).toMatchObject([{ input_units: '999999', chain_id: BigInt(chainId) }])
  })
})
