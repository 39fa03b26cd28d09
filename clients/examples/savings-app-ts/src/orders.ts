import { setTimeout as sleep } from 'node:timers/promises'
import {
  InsufficientFundsError,
  IntentFailedError,
  InvalidRequestError,
  type Intent,
  type Steward,
} from '@steward/sdk'
import { Refusal } from './refusal.js'
import type { Order, Store } from './store.js'

export type NewOrder = Pick<Order, 'id' | 'userId' | 'walletId' | 'kind' | 'amount' | 'chain'>
/** The ended intent; with webhooks the current one, because later changes arrive as events. */
type ReadIntent = (id: string) => Promise<Intent>
type Parts = { steward: Steward; store: Store; readIntent: ReadIntent }
export type Orders = ReturnType<typeof createOrders>

/** Pause between two attempts. */
const AGAIN_MS = 2_000

/** Completes each order, across restarts of this process and of Steward. */
export function createOrders({ steward, store, readIntent }: Parts) {
  // #region order
  /** Stores the order before it calls Steward, so that a restart can continue it. */
  function place(order: NewOrder): Order {
    const known = store.findOrder(order.id)
    if (known) return sameAs(order, known)
    const placed = store.putOrder({ ...order, status: 'open' })
    void follow(placed)
    return placed
  }

  /** The order's id is the key: sent again, after a crash too, it finds its intent. */
  async function submit({ id, kind, walletId, amount, chain = '' }: Order): Promise<Intent> {
    const once = { idempotencyKey: `order-${id}` }
    if (kind === 'save') return steward.intents.lend({ walletId, amount }, once)
    return steward.intents.withdraw({ walletId, amount, chain }, once)
  }
  // #endregion order

  // #region follow
  /** At the start of this process, for all orders that an earlier one has left open. */
  function resume(): void {
    for (const order of store.openOrders()) void follow(order)
  }

  async function follow(order: Order): Promise<void> {
    try {
      const intentId = order.intentId ?? (await submit(order)).id
      store.putOrder({ ...order, intentId })
      settle(await readIntent(intentId))
    } catch (error) {
      if (error instanceof IntentFailedError) settle(error.intent)
      else if (isRefusal(error)) {
        store.putOrder({ ...order, status: 'failed', reason: error.message })
      } else {
        console.error(`Order ${order.id} is tried again:`, error)
        await sleep(AGAIN_MS)
        return follow(store.findOrder(order.id) ?? order)
      }
    }
  }
  // #endregion follow

  // #region settle
  /** Updates an order from its intent. Older states are ignored. */
  function settle({ id, status, error, updatedAt = '' }: Intent): void {
    const order = store.findOrderOf(id)
    if (!order || updatedAt < (order.intentUpdatedAt ?? '')) return
    const kept = { ...order, intentUpdatedAt: updatedAt }
    delete kept.reason
    if (status === 'completed') store.putOrder({ ...kept, status: 'done' })
    else if (status === 'failed') {
      store.putOrder({ ...kept, status: 'failed', reason: error?.message ?? status })
    } else store.putOrder({ ...kept, status: 'open' })
  }
  // #endregion settle

  return { place, resume, settle }
}

/** Nothing was done, and the saver has to ask for something else. */
const isRefusal = (error: unknown): error is InsufficientFundsError | InvalidRequestError =>
  error instanceof InsufficientFundsError || error instanceof InvalidRequestError

function sameAs({ id, userId, kind, amount }: NewOrder, known: Order): Order {
  if (known.userId === userId && known.kind === kind && known.amount === amount) return known
  throw new Refusal(409, `Order ${id} is another one. Choose a new id.`)
}
