import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultLimits, type SigningLimits } from '../../../domain/limits.js'
import { createWorld, usdcUnits, type Lend, type World } from '../../relayer/world/fixture.js'
import type { SignerTools } from '../../../signer/signingContext.js'

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 2 })
})
afterAll(() => world?.stop())
beforeEach(async () => {
  await world.db.raw('alter table signed_amount disable trigger signed_amount_kept')
  await world.db('signed_amount').delete()
  await world.db.raw('alter table signed_amount enable trigger signed_amount_kept')
  await world
    .db('operation')
    .whereIn('state', ['queued', 'deferred'])
    .update({ state: 'cancelled' })
  world.logs.length = 0
})

const signerOf = (limits: Partial<SigningLimits>, leaseOwner = 'signer'): SignerTools => ({
  ...world.createSigner(leaseOwner),
  limits: { ...defaultLimits, ...limits },
})
const states = async (lends: Lend[]) => {
  const rows = await Promise.all(lends.map(({ operationId }) => world.row(operationId)))
  return rows.map((row) => row?.state).sort()
}
const count = (all: (string | undefined)[], state: string) =>
  all.filter((one) => one === state).length
const alarms = () => world.logs.filter(({ message }) => message === 'daily limit reached')

describe('the daily limit', () => {
  test('of a wallet defers the excess, stores until when, and logs once', async () => {
    const wallet = await world.createWallet(9n * usdcUnits)
    const other = await world.createWallet(usdcUnits)
    const signer = signerOf({ walletDailyUnits: 2n * usdcUnits })
    const lends: Lend[] = []
    for (let i = 0; i < 4; i++) lends.push(await world.lend(wallet, usdcUnits))
    const free = await world.lend(other, usdcUnits)
    await world.sign(signer)
    await world.sign(signer)
    expect(await states(lends)).toEqual(['deferred', 'deferred', 'signed', 'signed'])
    expect(await states([free])).toEqual(['signed'])
    const held = await world
      .db('operation')
      .where({ state: 'deferred', wallet_id: wallet.id })
      .select<{ code: string; message: string; tx_id: unknown }[]>()
    for (const { code, message, tx_id } of held) {
      expect({ code, tx_id }).toEqual({ code: 'DAILY_LIMIT', tx_id: null })
      const text = /^The wallet cannot sign 1 USD under its daily limit of 2 USD until (.+)\.$/
      const until = Date.parse(text.exec(message)?.[1] ?? '')
      const [first] = await world
        .db('signed_amount')
        .where({ wallet_id: wallet.id })
        .min<{ min: Date }[]>('signed_at')
      expect(until).toBe((first?.min.getTime() ?? 0) + 24 * 3_600_000)
    }
    expect(alarms()).toHaveLength(1)
    expect(alarms()[0]?.level).toBe('error')
  })

  test('does not count amounts older than a day', async () => {
    const wallet = await world.createWallet(9n * usdcUnits)
    const signer = signerOf({ walletDailyUnits: usdcUnits })
    await world.lend(wallet, usdcUnits)
    const next = await world.lend(wallet, usdcUnits)
    await world.sign(signer)
    expect(await states([next])).toEqual(['deferred'])
    await world.db.raw('alter table signed_amount disable trigger signed_amount_kept')
    const day = world.db.raw(`signed_at - interval '24 hours'`)
    await world.db('signed_amount').update({ signed_at: day })
    await world.db.raw('alter table signed_amount enable trigger signed_amount_kept')
    await world.retryNow(next)
    await world.sign(signer)
    expect(await states([next])).toEqual(['signed'])
  })

  test('of the deployment counts every wallet and fundings', async () => {
    const wallets = await world.createWallets(3, usdcUnits)
    const signer = signerOf({ dailyUnits: 3n * usdcUnits })
    const [paid] = await world.createWallets(1, 0n)
    if (!paid) throw new Error('There is no wallet.')
    const all: Lend[] = [await world.fund(paid)]
    for (const wallet of wallets) all.push(await world.lend(wallet, usdcUnits))
    for (let i = 0; i < 3; i++) await world.sign(signer)
    const reached = await states(all)
    expect([count(reached, 'signed'), count(reached, 'deferred')]).toEqual([3, 1])
  })

  test('of the treasury counts fundings only, and lets other operations pass', async () => {
    const wallets = await world.createWallets(3, usdcUnits)
    const signer = signerOf({ fundingDailyUnits: 2n * usdcUnits })
    const lends = await Promise.all(wallets.map((wallet) => world.lend(wallet, usdcUnits)))
    await world.sign(signer)
    const fundings: Lend[] = []
    for (const wallet of wallets) fundings.push(await world.fund(wallet))
    for (let i = 0; i < 3; i++) await world.sign(signer)
    expect(await states(lends)).toEqual(['signed', 'signed', 'signed'])
    expect(await states(fundings)).toEqual(['deferred', 'signed', 'signed'])
    const [held] = await world
      .db('operation')
      .where({ state: 'deferred' })
      .select<{ code: string; message: string }[]>('code', 'message')
    expect(held).toMatchObject({ code: 'DAILY_LIMIT' })
    expect(held?.message).toMatch(/^The treasury cannot sign 1 USD under its daily limit of 2 USD/)
  })

  test('is exact with two concurrent signers', async () => {
    const wallets = await world.createWallets(24, usdcUnits)
    const lends: Lend[] = []
    for (const wallet of wallets) lends.push(await world.lend(wallet, usdcUnits))
    const limits = { dailyUnits: 7n * usdcUnits }
    const signers = [signerOf(limits, 'one'), signerOf(limits, 'two')]
    for (let i = 0; i < 4; i++) await Promise.all(signers.map((signer) => world.sign(signer)))
    const reached = await states(lends)
    expect([count(reached, 'signed'), count(reached, 'deferred')]).toEqual([7, 17])
    const [sum] = await world.db('signed_amount').sum<{ sum: string }[]>('units')
    expect(sum?.sum).toBe((7n * usdcUnits).toString())
    expect(alarms()).toHaveLength(1)
  })

  test('error: an amount above the limit itself is refused with that reason', async () => {
    const wallet = await world.createWallet(9n * usdcUnits)
    const { operationId } = await world.lend(wallet, 3n * usdcUnits)
    await world.sign(signerOf({ walletDailyUnits: 2n * usdcUnits }))
    expect(await world.row(operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'INTERNAL' },
      message: 'Signing rejected: 3 USD exceed its daily limit of 2 USD.',
    })
  })
})
