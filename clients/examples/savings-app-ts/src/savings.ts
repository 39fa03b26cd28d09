import { Refusal } from './refusal.js'
import { sum, toText, toUnits } from './usdc.js'
import type { Steward } from '@steward/sdk'
import type { Orders } from './orders.js'
import type { SavingsOrder, Saver, Store } from './store.js'

export type OrderRequest = Pick<SavingsOrder, 'id' | 'kind' | 'amount'>
export type Savings = ReturnType<typeof createSavings>
type SavingsOptions = { steward: Steward; store: Store; orders: Orders }

const usdcUnits = (tokens: { asset: string; balance: string }[]) =>
  sum(tokens.filter(({ asset }) => asset === 'USDC').map(({ balance }) => BigInt(balance)))

/** Savings accounts on Steward: one wallet per saver, one intent per order. */
export function createSavings({ steward, store, orders }: SavingsOptions) {
  /** Creates the wallet of a saver and funds it with 1 test USDC. Repeated calls have no further effect. */
  async function signUp(userId: string): Promise<Saver> {
    const { id: walletId, address } = await steward.wallets.create({ userId })
    // On mainnet, savers send their own deposit to this address instead.
    await steward.demo.fund(walletId, { idempotencyKey: `welcome-${userId}` })
    return store.putSaver({ userId, walletId, address })
  }

  /** The available, saved and earned USDC of a saver. */
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

  async function order(userId: string, request: OrderRequest): Promise<SavingsOrder> {
    const { walletId } = getSaver(userId)
    // The order stores its chain, because a repeated call with the same key must be identical.
    const isNew = request.kind === 'withdraw' && !store.findOrder(request.id)
    const chain = isNew ? { chain: await chooseChain(walletId) } : {}
    return orders.place({ ...request, userId, walletId, ...chain })
  }

  /** The chain with the largest position. One order withdraws from one chain. */
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

  function getOrder(id: string): SavingsOrder {
    const found = store.findOrder(id)
    if (!found) throw new Refusal(404, `Order ${id} does not exist.`)
    return found
  }

  return { signUp, readAccount, order, getOrder }
}
