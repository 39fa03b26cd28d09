import { setTimeout as sleep } from 'node:timers/promises'
import {
  InsufficientFundsError,
  IntentFailedError,
  InvalidRequestError,
  type Intent,
  type Steward,
} from '@steward/sdk'
import { Refusal } from './refusal.js'
import type { SavingsOrder, Store } from './store.js'

export type NewOrder = Pick<
  SavingsOrder,
  'id' | 'userId' | 'walletId' | 'kind' | 'amount' | 'chain'
>
/** The ended intent; with webhooks the current one, because later changes arrive as events. */
type ReadIntent = (id: string) => Promise<Intent>
type OrdersOptions = { steward: Steward; store: Store; readIntent: ReadIntent }
export type Orders = ReturnType<typeof createOrders>

/** Pause between two attempts. */
const RETRY_MS = 2_000

/** Completes each order, across restarts of this process and of Steward. */
export function createOrders({ steward, store, readIntent }: OrdersOptions) {
  // #region order
  /** Stores the order before it calls Steward, so that a restart can continue it. */
  function place(order: NewOrder): SavingsOrder {
    const known = store.findOrder(order.id)
    if (known) return sameAs(order, known)
    const placed = store.putOrder({ ...order, status: 'open' })
    void follow(placed)
    return placed
  }

  /** The order id is the idempotency key: a repeated call, also after a crash, returns the same intent. */
  async function submit({ id, kind, walletId, amount, chain = '' }: SavingsOrder): Promise<Intent> {
    const once = { idempotencyKey: `order-${id}` }
    if (kind === 'save') return steward.intents.lend({ walletId, amount }, once)
    return steward.intents.withdraw({ walletId, amount, chain }, once)
  }
  // #endregion order

  // #region follow
  /** Continues all open orders at the start of the process. */
  function resume(): void {
    for (const order of store.openOrders()) void follow(order)
  }

  async function follow(order: SavingsOrder): Promise<void> {
    try {
      const intentId = order.intentId ?? (await submit(order)).id
      store.putOrder({ ...order, intentId })
      settle(await readIntent(intentId))
    } catch (error) {
      if (error instanceof IntentFailedError) settle(error.intent)
      else if (isRejection(error)) {
        store.putOrder({ ...order, status: 'failed', reason: error.message })
      } else {
        console.error(`Order ${order.id} failed and is retried:`, error)
        await sleep(RETRY_MS)
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
    const updated = { ...order, intentUpdatedAt: updatedAt }
    delete updated.reason
    if (status === 'completed') store.putOrder({ ...updated, status: 'done' })
    else if (status === 'failed') {
      store.putOrder({ ...updated, status: 'failed', reason: error?.message ?? status })
    } else store.putOrder({ ...updated, status: 'open' })
  }
  // #endregion settle

  return { place, resume, settle }
}

/** Steward rejected the order. The saver must place another one. */
const isRejection = (error: unknown): error is InsufficientFundsError | InvalidRequestError =>
  error instanceof InsufficientFundsError || error instanceof InvalidRequestError

function sameAs({ id, userId, kind, amount }: NewOrder, known: SavingsOrder): SavingsOrder {
  if (known.userId === userId && known.kind === kind && known.amount === amount) return known
  throw new Refusal(409, `Order ${id} already exists with other values. Choose a new id.`)
}
