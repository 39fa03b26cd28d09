import { Refusal } from './refusal.js'
import { sum, toText, toUnits } from './usdc.js'
import type { Steward } from '@steward/sdk'
import type { Orders } from './orders.js'
import type { Order, Saver, Store } from './store.js'

export type Wish = Pick<Order, 'id' | 'kind' | 'amount'>
export type Savings = ReturnType<typeof createSavings>
type Parts = { steward: Steward; store: Store; orders: Orders }

const usdcUnits = (tokens: { asset: string; balance: string }[]) =>
  sum(tokens.filter(({ asset }) => asset === 'USDC').map(({ balance }) => BigInt(balance)))

/** A savings account on top of Steward: a wallet for each saver, an intent for each order. */
export function createSavings({ steward, store, orders }: Parts) {
  /** A wallet and, on a test network, the first dollar. Signing up twice is signing up once. */
  async function signUp(userId: string): Promise<Saver> {
    const { id: walletId, address } = await steward.wallets.create({ userId })
    // Where money is real, the saver's own deposit comes to this address instead.
    await steward.demo.fund(walletId, { idempotencyKey: `welcome-${userId}` })
    return store.putSaver({ userId, walletId, address })
  }

  /** What a saver has, in USDC: what can be saved, what is saved, and what that has earned. */
  async function readAccount(userId: string) {
    const { walletId, address } = getSaver(userId)
    const [{ chains }, { positions }] = await Promise.all([
      steward.balances.get(walletId),
      steward.positions.get(walletId, { closed: true }),
    ])
    return {
      ...{ userId, address },
      available: toText(sum(chains.map(({ tokens }) => usdcUnits(tokens)))),
      saved: toText(sum(positions.map(({ currentValue }) => toUnits(currentValue)))),
      earned: toText(sum(positions.map(({ earned }) => toUnits(earned)))),
    }
  }

  async function order(userId: string, wish: Wish): Promise<Order> {
    const { walletId } = getSaver(userId)
    // The order keeps its chain: what is sent again under the same key must be the same.
    const isNew = wish.kind === 'withdraw' && !store.findOrder(wish.id)
    const chain = isNew ? { chain: await chooseChain(walletId) } : {}
    return orders.place({ ...wish, userId, walletId, ...chain })
  }

  /** Where the saver has most. One order takes money out of one chain. */
  async function chooseChain(walletId: string): Promise<string> {
    const { positions } = await steward.positions.get(walletId)
    const valueOf = ({ currentValue }: { currentValue: string }) => toUnits(currentValue)
    const [largest] = positions.sort((one, other) => (valueOf(one) < valueOf(other) ? 1 : -1))
    if (!largest) throw new Refusal(409, 'Nothing is saved yet.')
    return largest.chain
  }

  function getSaver(userId: string): Saver {
    const saver = store.findSaver(userId)
    if (!saver) throw new Refusal(404, `${userId} has not signed up.`)
    return saver
  }

  function getOrder(id: string): Order {
    const found = store.findOrder(id)
    if (!found) throw new Refusal(404, `There is no order ${id}.`)
    return found
  }

  return { signUp, readAccount, order, getOrder }
}
