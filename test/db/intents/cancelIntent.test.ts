import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelIntent } from '../../../db/intents/intents.js'
import {
  createBridgeWorld,
  dollar,
  type BridgeWorld,
  type PlannedIntent,
} from '../../relayer/bridge/bridgeFixture.js'
import {
  arrived,
  burned,
  destination,
  expectMinted,
  lendRequest,
  source,
} from '../../relayer/bridge/bridging.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { ChainSite } from '../../relayer/world/site.js'

let world: BridgeWorld
let to: ChainSite
let wallet: StoredWallet
beforeAll(async () => {
  world = await createBridgeWorld([source, destination])
  to = world.at(destination)
})
beforeEach(async () => {
  wallet = await world.createWallet({ [source]: dollar })
})
afterAll(() => world?.stop())

const cancel = ({ accountId, id }: PlannedIntent) =>
  world.db.transaction((trx) => cancelIntent(trx, accountId, id))

/** A lend whose money has crossed the bridge. Its deposit waits. */
async function crossed(): Promise<PlannedIntent> {
  const intent = await burned(world, wallet, lendRequest)
  await world.perform(intent, 1, 'mint')
  return intent
}

const lent = () => {
  const { receiptToken = '' } = to.chain.markets[0] ?? {}
  return to.held(receiptToken, wallet.address)
}
const cancelled = {
  status: 'failed',
  cancelled_at: expect.any(Date),
  error: { code: 'CANCELLED', funds: [{ chain: destination, asset: 'USDC', amount: '0.9999' }] },
}
const lendArrived = { ...lendRequest, amountUnits: arrived }

describe('cancelIntent: an intent whose money has arrived while its deposit waits', () => {
  test.each(['queued', 'deferred', 'absent'])(
    'is cancelled when the deposit is %s, and the money is free at once',
    async (state) => {
      const intent = await crossed()
      if (state !== 'absent') await world.submit(intent, 2, 'deposit')
      if (state === 'deferred') {
        const full = { state, code: 'DEPOSIT_FAILED', message: 'x', retry_after: new Date() }
        await world
          .db('operation')
          .where({ id: world.idOf(intent, 2, 'deposit') })
          .update(full)
      }
      expect(await cancel(intent)).toBe('cancelled')
      expect(await world.intent(intent)).toMatchObject(cancelled)
      expect(await world.reservation(intent, 2)).toMatchObject({ released_at: expect.any(Date) })
      const next = await world.intend(wallet, lendArrived)
      expect(next.plan.steps).toMatchObject([{ type: 'deposit', amount: '0.9999' }])
      expect(await world.submit(intent, 2, 'deposit')).toEqual(
        state === 'absent' ? undefined : expect.objectContaining({ state: 'cancelled' }),
      )
      await to.round()
      expect(await lent()).toBe(0n)
    },
  )

  test('is cancelled or its deposit is signed, never both', async () => {
    const intents: PlannedIntent[] = []
    for (let i = 0; i < 4; i++) {
      wallet = await world.createWallet({ [source]: dollar })
      const intent = await crossed()
      await world.submit(intent, 2, 'deposit')
      const [verdict] = await Promise.all([cancel(intent), to.sign()])
      await to.round()
      const isLent = (await lent()) > 0n
      expect(verdict).toBe(isLent ? 'already_signed' : 'cancelled')
      intents.push(intent)
    }
    expect(intents).toHaveLength(4)
  })

  test('stays cancelled when a reorg removes the mint: the money arrives again and is not lent', async () => {
    const intent = await crossed()
    await cancel(intent)
    await to.reorg(1)
    expect(await world.intent(intent)).toMatchObject({ status: 'executing' })
    expect(await world.reservation(intent, 2)).toMatchObject({ released_at: expect.any(Date) })
    const finalize = () => world.run(world.activities.finalizeIntent, { intentId: intent.id })
    expect(await finalize()).toMatchObject({ status: 'executing' })
    await to.mine(2)
    await to.round()
    await expectMinted(world, intent)
    expect(await world.submit(intent, 2, 'deposit')).toBeUndefined()
    expect(await finalize()).toMatchObject({ status: 'failed', code: 'CANCELLED' })
    expect(await world.intent(intent)).toMatchObject(cancelled)
  })
})

describe('cancelIntent: an intent whose money is in the bridge', () => {
  test.each(['burned', 'attested', 'mint queued'])('is not cancelled: %s', async (stage) => {
    const intent = await world.intend(wallet, lendRequest)
    await world.perform(intent, 1, 'bridge')
    if (stage !== 'burned') await world.attest(intent)
    if (stage === 'mint queued') await world.submit(intent, 1, 'mint')
    expect(await cancel(intent)).toBe('already_signed')
    expect(await world.intent(intent)).toMatchObject({ status: 'executing', cancelled_at: null })
    expect(await world.reservation(intent, 2)).toMatchObject({ released_at: null })
    if (stage === 'burned') await world.attest(intent)
    await world.perform(intent, 1, 'mint')
    await expectMinted(world, intent)
  })
})
