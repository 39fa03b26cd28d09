import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type Saver = { userId: string; walletId: string; address: string }

/** What a saver has asked for, and the intent that does it. */
export type Order = {
  /** Chosen by the client: the same id is the same order. */
  id: string
  userId: string
  walletId: string
  kind: 'save' | 'withdraw'
  /** USDC, or `max` to withdraw everything. */
  amount: string
  /** Where it is withdrawn from. */
  chain?: string
  /** Absent until Steward has answered. */
  intentId?: string
  status: 'open' | 'done' | 'failed'
  /** `updatedAt` of the intent when it was heard of last. */
  intentUpdatedAt?: string
  /** Why it failed. */
  reason?: string
}

/** The webhook of this app and its secret. */
export type StoredWebhook = { id: string; url: string; secret: string }

type Rows = {
  savers: Record<string, Saver>
  orders: Record<string, Order>
  webhook?: StoredWebhook
}

export type Store = ReturnType<typeof openStore>

/**
 * A file in place of your database: one writer, and what was put is there after a restart.
 *
 * @param file - JSON; made when it is first written.
 */
export function openStore(file: string) {
  const rows: Rows = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Rows)
    : { savers: {}, orders: {} }

  // Renamed when it is whole: a process that dies while writing leaves the file of before.
  function keep(): void {
    writeFileSync(`${file}.new`, JSON.stringify(rows, null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  return {
    findSaver: (userId: string) => rows.savers[userId],
    findOrder: (id: string) => rows.orders[id],
    findOrderOf: (intentId: string) =>
      Object.values(rows.orders).find((order) => order.intentId === intentId),
    openOrders: () => Object.values(rows.orders).filter(({ status }) => status === 'open'),
    webhook: () => rows.webhook,
    putSaver(saver: Saver) {
      rows.savers[saver.userId] = saver
      keep()
      return saver
    },
    putOrder(order: Order) {
      rows.orders[order.id] = order
      keep()
      return order
    },
    putWebhook(webhook: StoredWebhook) {
      rows.webhook = webhook
      keep()
      return webhook
    },
  }
}
