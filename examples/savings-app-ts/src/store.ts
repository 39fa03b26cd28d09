import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type Saver = { userId: string; walletId: string; address: string }

/** What a saver has asked for, and the intent that does it. */
export type Order = {
  /** Chosen by whoever places it: the same id is the same order. */
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
  toldAt?: string
  /** Why it failed. */
  reason?: string
}

/** Where Steward tells what happens, and how that is known to be from Steward. */
export type Webhook = { id: string; url: string; secret: string }

type Rows = { savers: Record<string, Saver>; orders: Record<string, Order>; webhook?: Webhook }

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
    putWebhook(webhook: Webhook) {
      rows.webhook = webhook
      keep()
      return webhook
    },
  }
}
