import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readBalance } from '../../../evm/read.js'
import { devnetTerms } from '../../../dev/devnet/chains.js'
import { lendingProtocol } from '../../../evm/lending/markets.js'
import { forge } from '../world/scenes/forge.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from '../world/fixture.js'
import { setPaused } from '../world/scenes/freeze.js'
import { lendIn, planWithdrawal, runWithdrawal, submitStep } from '../world/planned.js'
import { changeUnbound } from '../world/scenes/unbound.js'
import type { Market } from '../../../evm/registry.js'
import type { StoredIntent } from '../../../db/intents/intents.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

const MONTH_SECONDS = 2_592_000
/** Rounding of a market per movement. */
const ROUNDING = 1n

let world: World
let wallet: StoredWallet

beforeAll(async () => {
  const terms = devnetTerms['arbitrum-sepolia']
  world = await createWorld({ senderCount: 1, terms: { ...terms, extras: ['comet', 'vault'] } })
})
afterAll(() => world?.stop())

function marketOf(protocol: Market['protocol']): Market {
  const market = world.chain.markets.find((candidate) => candidate.protocol === protocol)
  if (!market) throw new Error(`No ${protocol}.`)
  return market
}
async function lender(units: bigint, protocol: Market['protocol'] = 'aave-v3') {
  wallet = await world.createWallet(units)
  await lendIn(world, wallet, marketOf(protocol), units)
}
const client = () => world.driver().client
const worth = (market: Market) =>
  lendingProtocol(market).readPosition(client(), market, {
    wallet: wallet.address,
    block: 'latest',
  })
const receipts = ({ receiptToken }: Market) =>
  readBalance(client(), { token: receiptToken, owner: wallet.address })
const usdc = () => world.usdcOf(wallet.address)
const withdrawal = (units: bigint | 'max') => planWithdrawal(world, wallet, units)
const stepOf = ({ plan }: StoredIntent) => plan?.steps[0]

/** Submits the step of a withdrawal and executes it; its row. */
async function execute(intent: StoredIntent) {
  const { operationId } = await submitStep(world, intent)
  await world.round()
  return world.row(operationId)
}

describe.each(['aave-v3', 'erc4626', 'compound-v3'] as const)(
  'a withdrawal from %s',
  (protocol) => {
    beforeEach(() => lender(3n * usdcUnits, protocol))

    test('of a part returns exactly that, and the rest stays', async () => {
      const intent = await withdrawal(usdcUnits)
      const row = await execute(intent)
      expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
      expect(await usdc()).toBe(usdcUnits)
      expect(await worth(marketOf(protocol))).toBeGreaterThanOrEqual(2n * usdcUnits - 2n * ROUNDING)
      const spent = { spent_block: row?.block_number, released_at: null }
      expect(await world.reservation(intent.id)).toMatchObject(spent)
    })

    test('of 99 % returns exactly that', async () => {
      expect(await execute(await withdrawal(2_970_000n))).toMatchObject({ units: '2970000' })
      expect(await usdc()).toBe(2_970_000n)
    })

    test('of everything leaves nothing behind, including the interest of the wait', async () => {
      const intent = await withdrawal('max')
      expect(stepOf(intent)).toMatchObject({ everything: true })
      await world.rpc('evm_increaseTime', [MONTH_SECONDS])
      await world.mine()
      await world.index()
      const row = await execute(intent)
      expect(row).toMatchObject({ state: 'confirmed', success: true })
      expect(await receipts(marketOf(protocol))).toBe(0n)
      expect(await usdc()).toBe(BigInt(row?.units ?? 0))
      expect(await usdc()).toBeGreaterThan(3n * usdcUnits)
    })

    test('of everything after a part returns the rest', async () => {
      const part = await withdrawal(usdcUnits)
      const [one] = [await execute(part), await execute(await withdrawal('max'))]
      expect(one).toMatchObject({ units: '1000000' })
      expect(await receipts(marketOf(protocol))).toBe(0n)
      expect(await usdc()).toBeGreaterThanOrEqual(3n * usdcUnits - 3n * ROUNDING)
    })
  },
)

describe('two withdrawals', () => {
  beforeEach(() => lender(3n * usdcUnits))

  /** Plans concurrently; the plans, and the reasons of the refused ones. */
  async function race(...amounts: (bigint | 'max')[]) {
    const settled = await Promise.allSettled(amounts.map(withdrawal))
    const planned = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const refused = settled.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as { code: string; details: object }] : [],
    )
    return { planned, refused }
  }

  test('never count on the same money', async () => {
    const { planned, refused } = await race(2n * usdcUnits, 2n * usdcUnits, 2n * usdcUnits)
    expect(planned).toHaveLength(1)
    expect(refused.map(({ code }) => code)).toEqual(['INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS'])
  })

  test('share the position, and both return the requested amounts', async () => {
    const { planned } = await race(usdcUnits, usdcUnits)
    expect(planned).toHaveLength(2)
    for (const intent of planned) await submitStep(world, intent)
    await world.round()
    await world.round()
    expect(await usdc()).toBe(2n * usdcUnits)
    for (const { id } of planned) {
      expect(await world.reservation(id)).toMatchObject({ spent_block: expect.any(BigInt) })
    }
  })

  test('never both withdraw everything', async () => {
    const { planned, refused } = await race('max', 'max', 'max')
    expect(planned).toHaveLength(1)
    for (const { code, details } of refused) {
      expect({ code, details }).toMatchObject({
        ...{ code: 'INVALID_REQUEST', details: { reason: 'market_busy' } },
      })
    }
  })

  test('a partial and a full withdrawal never overlap', async () => {
    const { planned, refused } = await race('max', usdcUnits)
    expect(planned).toHaveLength(1)
    expect(refused).toHaveLength(1)
  })

  test('do not reuse the money of a mined one that is not indexed', async () => {
    await submitStep(world, await withdrawal(2n * usdcUnits))
    await world.sign()
    await world.broadcast()
    await world.mine()
    await expect(withdrawal(2n * usdcUnits)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    await world.index()
    await expect(withdrawal(2n * usdcUnits)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    await execute(await withdrawal('max'))
    expect(await usdc()).toBeGreaterThanOrEqual(3n * usdcUnits - 3n * ROUNDING)
    expect(await receipts(marketOf('aave-v3'))).toBe(0n)
  })

  test('reuse the money of one that a reorg removed only after it is rolled back', async () => {
    const first = await withdrawal(2n * usdcUnits)
    await execute(first)
    await world.rpc('anvil_reorg', [1, []])
    await world.mine()
    await world.index()
    expect(await world.reservation(first.id)).toMatchObject({ spent_block: null })
    await expect(withdrawal(2n * usdcUnits)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    await world.round()
    expect(await usdc()).toBe(2n * usdcUnits)
  })
})

describe('a withdrawal that fails', () => {
  beforeEach(() => lender(3n * usdcUnits))

  test('on the chain is reported as WITHDRAW_FAILED, and its money is free when that is final', async () => {
    const intent = await withdrawal('max')
    const { operationId } = await submitStep(world, intent)
    await world.sign()
    await setPaused(world, true)
    await world.broadcast()
    await world.mine()
    await world.index()
    await setPaused(world, false)
    const failed = { state: 'confirmed', success: false, units: null }
    expect(await world.row(operationId)).toMatchObject(failed)
    const failure = { type: 'WITHDRAW_FAILED', nonRetryable: true }
    await expect(runWithdrawal(world, intent)).rejects.toMatchObject(failure)
    expect(await usdc()).toBe(0n)
    await expect(withdrawal('max')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })

    await world.mine(finalityBlocks)
    await world.index()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent.id)).toMatchObject(free)
    await execute(await withdrawal('max'))
    expect(await usdc()).toBeGreaterThanOrEqual(3n * usdcUnits - 2n * ROUNDING)
  })

  test('in the simulation is refused at two blocks, and never signed', async () => {
    const before = await world.transactions()
    const submitted = await submitStep(world, await withdrawal(usdcUnits))
    await setPaused(world, true)
    await world.index()
    await world.sign()
    const refused = { code: 'WITHDRAW_FAILED', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'deferred', ...refused })
    await world.mine()
    await world.index()
    await world.retryNow(submitted)
    await world.sign()
    expect(await world.row(submitted.operationId)).toMatchObject({ state: 'rejected', ...refused })
    await setPaused(world, false)
    expect(await world.transactions()).toHaveLength(before.length)
  })

  test('does not affect a successful one, whose activity returns its units', async () => {
    const intent = await withdrawal(usdcUnits)
    const row = await execute(intent)
    const done = { txHash: row?.tx_hash, units: '1000000' }
    expect(await runWithdrawal(world, intent)).toEqual(done)
  })
})

describe('the signer withdraws exactly the plan', () => {
  beforeEach(() => lender(3n * usdcUnits))

  const expectRefused = async (intent: StoredIntent, changes: object) => {
    const before = await world.transactions()
    const { operationId } = await submitStep(world, intent)
    await changeUnbound(world, operationId, changes)
    await world.sign()
    const refused = { state: 'deferred', code: 'INTERNAL', payload: null }
    expect(await world.row(operationId)).toMatchObject(refused)
    expect(await world.transactions()).toHaveLength(before.length)
    await world.db('operation').where({ id: operationId }).update({ state: 'cancelled' })
  }

  test.each(['1000001', '1', '0'])('even when the row names %s', async (units) => {
    const intent = await withdrawal(usdcUnits)
    const { operationId } = await submitStep(world, intent)
    await changeUnbound(world, operationId, { input_units: units })
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', units: '1000000' })
  })

  test('of which a plan names less than its request', async () => {
    const intent = await withdrawal(usdcUnits)
    await forge(world, intent.id, 1, { amount: '0.99' })
    await expectRefused(intent, { resource: null })
  })

  test('of another wallet', async () => {
    const intent = await withdrawal(usdcUnits)
    const { id } = await world.createWallet(0n)
    await expectRefused(intent, { wallet_id: id })
  })
})
