import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenToOperations } from '../../db/client/listen.js'
import { watchQueue } from '../../operations/queue.js'
import { lockClaimed, claimOperations } from '../../operations/signing/claiming.js'
import { readSenders } from '../../operations/signing/signing.js'
import { resumeWork, pauseWork, type PauseTarget } from '../../db/pauses.js'
import { connect } from '../../db/client/connect.js'
import { createArrival } from '../relayer/bridge/crossing.js'
import { createWorld, usdcUnits, type World } from '../relayer/world/fixture.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

const order = { by: 'alice', why: 'a key may have leaked' }

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

const pause = (target: PauseTarget) => pauseWork(world.db, target, order)
const resume = (target: PauseTarget) => resumeWork(world.db, target, order)
const signed = async (id: string) => (await world.row(id))?.payload !== null

const targets: [string, (wallet: StoredWallet) => PauseTarget][] = [
  ['its wallet is frozen', ({ id }) => ({ scope: 'wallet', subject: id })],
  ['its account is frozen', ({ accountId }) => ({ scope: 'account', subject: accountId })],
  ['its chain is paused', () => ({ scope: 'chain', subject: String(world.chain.chainId) })],
  ['the deployment is paused', () => ({ scope: 'deployment', subject: '' })],
]

describe.each(targets)('while %s', (_, targetOf) => {
  test('a lend is neither claimed nor signed, and continues after the release', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    const before = (await world.transactions()).length
    await pause(targetOf(wallet))
    expect(await world.sign()).toBe(false)
    expect(await world.row(operationId)).toMatchObject({ state: 'queued', lease_owner: null })
    expect(await world.transactions()).toHaveLength(before)
    await resume(targetOf(wallet))
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(wallet.address)).toBe(usdcUnits)
  })

  test('a funding waits', async () => {
    const wallet = await world.createWallet(0n)
    const { operationId } = await world.fund(wallet)
    await pause(targetOf(wallet))
    await world.round()
    expect(await signed(operationId)).toBe(false)
    await resume(targetOf(wallet))
    await world.round()
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
  })

  test('an operation claimed before is not signed', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    const [sender] = await readSenders(world.signerDb, world.chain.chainId)
    if (!sender) throw new Error('There is no sender.')
    const claimed = await claimOperations(world.signerDb, { ...sender, lateSeconds: 60 }, 'signer')
    expect(claimed.map(({ id }) => id)).toEqual([operationId])
    await pause(targetOf(wallet))
    const live = await world.signerDb.transaction((trx) => lockClaimed(trx, claimed, 'signer'))
    expect(live).toEqual([])
    await resume(targetOf(wallet))
    const again = await world.signerDb.transaction((trx) => lockClaimed(trx, claimed, 'signer'))
    expect(again).toEqual(claimed)
    await world.db('operation').where({ id: operationId }).update({ leased_until: null })
    await world.round()
    expect(await signed(operationId)).toBe(true)
  })

  test('an operation that is paused while it is prepared keeps no lease', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    let paused: Promise<void> | undefined
    world.proxy.set(async () => {
      paused ??= pause(targetOf(wallet))
      await paused
      return undefined
    })
    await world.sign()
    world.proxy.set(undefined)
    expect(paused).toBeDefined()
    expect(await world.row(operationId)).toMatchObject({ state: 'queued', lease_owner: null })
    await resume(targetOf(wallet))
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', lost_leases: 0 })
  })

  test('a signed operation without a transaction is not resubmitted', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.sign()
    await world.db('operation').where({ id: operationId }).update({ tx_id: null })
    await pause(targetOf(wallet))
    const before = (await world.transactions()).length
    await world.sign()
    expect(await world.transactions()).toHaveLength(before)
    await resume(targetOf(wallet))
    await world.sign()
    expect(await world.transactions()).toHaveLength(before + 1)
    await world.round()
    await world.round()
  })

  test('a sent transaction is watched and indexed', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    await world.sign()
    await world.broadcast()
    await pause(targetOf(wallet))
    await world.mine()
    await world.index()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    await resume(targetOf(wallet))
  })
})

describe('burned money', () => {
  test.each(targets.slice(0, 2))('is minted although %s', async (_, targetOf) => {
    const wallet = await world.createWallet(0n)
    const { order: mint } = await createArrival(world, wallet, usdcUnits)
    await world.submit(mint)
    await pause(targetOf(wallet))
    await world.round()
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    await resume(targetOf(wallet))
  })

  test.each(targets.slice(2))(
    'waits in the bridge while %s, and is minted afterwards',
    async (_, targetOf) => {
      const wallet = await world.createWallet(0n)
      const { order: mint } = await createArrival(world, wallet, usdcUnits)
      const { operationId } = await world.submit(mint)
      await pause(targetOf(wallet))
      await world.round()
      expect(await world.row(operationId)).toMatchObject({ state: 'queued', payload: null })
      await resume(targetOf(wallet))
      await world.round()
      expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    },
  )
})

test('a pause affects no other scope', async () => {
  const [frozen, other] = await world.createWallets(2, usdcUnits)
  if (!frozen || !other) throw new Error('There are no wallets.')
  const subject = frozen.id
  await pause({ scope: 'wallet', subject })
  await pause({ scope: 'chain', subject: '1' })
  const held = await world.lend(frozen, usdcUnits)
  const { operationId } = await world.lend(other, usdcUnits)
  await world.round()
  expect(await world.row(operationId)).toMatchObject({ state: 'confirmed' })
  expect(await signed(held.operationId)).toBe(false)
  expect(await world.row(held.operationId)).toMatchObject({ state: 'queued', lease_owner: null })
  await resume({ scope: 'wallet', subject })
  await resume({ scope: 'chain', subject: '1' })
  await world.round()
})

test.each(['api', 'worker', 'relayer', 'signer'] as const)(
  'no lock that %s can take delays a pause or its end',
  async (service) => {
    const login = connect(world.database.urlAs(`steward_${service}`), 1)
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    await login.transaction(async (trx) => {
      await trx.raw(`select pg_advisory_xact_lock(hashtextextended('pauses', 0))`)
      // Each lock of a table that the role may take at all.
      for (const table of ['pause', 'audit_event', 'wallet', 'account', 'operation']) {
        for (const mode of ['access exclusive', 'share', 'row exclusive']) {
          const attempt = trx.transaction((inner) => inner.raw(`lock ${table} in ${mode} mode`))
          await attempt.catch(() => undefined)
        }
      }
      await pause({ scope: 'wallet', subject: wallet.id })
      await world.sign()
      expect(await signed(operationId)).toBe(false)
      await resume({ scope: 'wallet', subject: wallet.id })
    })
    await login.destroy()
    await world.round()
    expect(await signed(operationId)).toBe(true)
  },
)

test('a release notifies a waiting signer', async () => {
  const ending = new AbortController()
  const listener = listenToOperations(world.database.urlAs('steward_signer'), ending.signal)
  const nextWork = watchQueue(listener, ending.signal, ['queued'])
  const target = { scope: 'deployment' as const, subject: '' }
  await pause(target)
  // The first notification announces the listener itself.
  await nextWork(10_000)
  let isWoken = false
  const woken = nextWork(600_000).then(() => (isWoken = true))
  await sleep(50)
  expect(isWoken).toBe(false)
  await resume(target)
  await woken
  ending.abort()
})
