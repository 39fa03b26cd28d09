import { describe, expect, test } from 'vitest'
import { readWalletBalances } from '../balances.js'
import { expectConserved, expectTransactions } from '../money.js'
import { until } from '../stack.js'
import { toIntent, type OwnWorld, type IntentResponse, type Wallet } from '../world.js'
import { failOnChain } from './failOnChain.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const

const lend = (amount: number, more: object = {}) => ({ action: 'lend', amount, ...more })
const refusedFor = (reason: string) => ({
  status: 400,
  body: { error: 'INVALID_REQUEST', details: { reason } },
})

/** Failures of external systems: the attestation service and a market. */
export function testFailures(open: () => OwnWorld): void {
  const retry = (id: string) => open().call('POST', `/intents/${id}/retry`)
  const usdcOn = async (chain: typeof arbitrum | typeof base, wallet: Wallet) =>
    (await readWalletBalances(open().nodes[chain], wallet)).usdc

  /** The finished retry of a failed intent. */
  async function retried({ id }: IntentResponse): Promise<IntentResponse> {
    const answer = await retry(id)
    expect(answer).toMatchObject({ status: 201, body: { retryOf: id } })
    const finished = await open().untilFinished(toIntent(answer).id)
    expect(finished.status).toBe('completed')
    return finished
  }

  describe('an attestation that does not come', () => {
    test('a late attestation: the intent reports the delay and the location of the money, and completes afterwards', async () => {
      const world = open()
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      await world.setFaults({ stuck: true })
      const { id } = await world.create(wallet, lend(1))
      const late = await world.untilIntent(id, ({ delay }) => delay !== undefined)
      expect(late).toMatchObject({
        status: 'executing',
        delay: {
          ...{ code: 'BRIDGE_TIMEOUT', message: expect.stringContaining('awaits its attestation') },
          funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
        },
      })
      expect(late).not.toHaveProperty('error')
      expect(await expectConserved(world, wallet)).toBe(1_000_000n)
      expect(await retry(id)).toMatchObject(refusedFor('not_failed'))

      await world.setFaults({ stuck: false })
      const finished = await world.untilFinished(id)
      expect(finished).toMatchObject({ status: 'completed', results: { finalAmount: '0.9999' } })
      expect(finished).not.toHaveProperty('delay')
      expect(await expectConserved(world, wallet)).toBe(0n)
    })

    test('BRIDGE_TIMEOUT: the intent fails, the money arrives later, and a retry deposits it', async () => {
      const world = open()
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      await world.setFaults({ stuck: true })
      const wish = { ...lend(1), metadata: { simulate: 'BRIDGE_TIMEOUT' } }
      const { id } = await world.create(wallet, wish)
      const finished = await world.untilFinished(id)
      expect(finished.status).toBe('failed')
      await expectTransactions(world, finished, [`bridge ${arbitrum}`])
      expect(finished.error).toMatchObject({
        ...{ code: 'BRIDGE_TIMEOUT', step: 1 },
        funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
      })
      expect(finished.error).not.toHaveProperty('recovery')
      expect(await expectConserved(world, wallet)).toBe(1_000_000n)
      expect(await retry(finished.id)).toMatchObject(refusedFor('funds_in_bridge'))

      await world.setFaults({ stuck: false })
      const recovered = await world.untilIntent(
        finished.id,
        ({ error }) => error?.recovery !== undefined,
      )
      expect(recovered).toMatchObject({
        status: 'failed',
        error: {
          code: 'BRIDGE_TIMEOUT',
          recovery: { chain: base, asset: 'USDC', amount: '0.9999' },
          funds: [{ chain: base, asset: 'USDC', amount: '0.9999' }],
        },
      })
      const hash = recovered.error?.recovery?.txHash ?? ''
      const receipt = await world.nodes[base].provider.getTransactionReceipt(hash)
      expect(receipt?.status).toBe(1)
      expect(await usdcOn(base, wallet)).toBe(999_900n)
      await expectTransactions(world, await retried(recovered), [`deposit ${base}`])
      expect(await usdcOn(base, wallet)).toBe(0n)
      expect(await expectConserved(world, wallet)).toBe(0n)
    })
  })

  describe('a market that refuses', () => {
    test('DEPOSIT_FAILED before the deposit is signed: the money is at the destination', async () => {
      const world = open()
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      await world.setFaults({ stuck: true })
      const { id } = await world.create(wallet, lend(1))
      await world.setAavePaused(base, true)
      await world.setFaults({ stuck: false })
      const finished = await world.untilFinished(id)
      expect(finished).toMatchObject({
        ...{ status: 'failed', results: { completedSteps: 1 } },
        error: {
          ...{ code: 'DEPOSIT_FAILED', step: 2 },
          message: 'The call would fail: the reserve is paused (Aave 29)',
          funds: [{ chain: base, asset: 'USDC', amount: '0.9999' }],
        },
      })
      await expectTransactions(world, finished, [`bridge ${arbitrum}`, `mint ${base}`])
      expect(await usdcOn(base, wallet)).toBe(999_900n)
      await world.setAavePaused(base, false)
      await expectTransactions(world, await retried(finished), [`deposit ${base}`])
      expect(await expectConserved(world, wallet)).toBe(0n)
    })

    test('DEPOSIT_FAILED on chain: read from its log, and retried once a reorg can no longer undo it', async () => {
      const world = open()
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const { id } = await failOnChain(world, wallet)
      const finished = await world.untilFinished(id)
      expect(finished).toMatchObject({
        ...{ status: 'failed', results: { completedSteps: 0, transactions: [{ failed: true }] } },
        error: {
          ...{ code: 'DEPOSIT_FAILED', step: 1 },
          message: expect.stringContaining(': the reserve is paused (Aave 29)'),
          funds: [{ chain: arbitrum, asset: 'USDC', amount: '1' }],
        },
      })
      // The bundle succeeded, the inner call did not.
      await expectTransactions(world, finished, [`deposit ${arbitrum}`])
      expect(await usdcOn(arbitrum, wallet)).toBe(1_000_000n)

      const early = await retry(id)
      expect(early).toMatchObject(refusedFor('not_final'))
      const { details } = early.body as { details: { retryAfter: number } }
      expect(details.retryAfter).toBeGreaterThan(0)
      const spoken = { walletId: wallet.id, ...lend(1, { chain: arbitrum }) }
      expect(await world.call('POST', '/intents', spoken)).toMatchObject({
        ...{ status: 400, body: { error: 'INSUFFICIENT_FUNDS' } },
      })

      const accepted = await until(
        () => retry(id),
        ({ status }) => status === 201,
      )
      expect((await world.untilFinished(toIntent(accepted).id)).status).toBe('completed')
      expect(await usdcOn(arbitrum, wallet)).toBe(0n)
      expect(await expectConserved(world, wallet)).toBe(0n)
    }, 120_000)
  })
}
