import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type Saver = { userId: string; walletId: string; address: string }

/** An order of a saver and the id of its intent. */
export type SavingsOrder = {
  /** Chosen by the client. Orders with the same id are the same order. */
  id: string
  userId: string
  walletId: string
  kind: 'save' | 'withdraw'
  /** USDC, or `max` to withdraw everything. */
  amount: string
  /** Chain of a withdrawal. */
  chain?: string
  /** Missing until Steward has responded. */
  intentId?: string
  status: 'open' | 'done' | 'failed'
  /** `updatedAt` of the newest processed state of the intent. */
  intentUpdatedAt?: string
  /** Reason of the failure. */
  reason?: string
}

/** The webhook of this app and its secret. */
export type StoredWebhook = { id: string; url: string; secret: string }

type StoreContent = {
  savers: Record<string, Saver>
  orders: Record<string, SavingsOrder>
  webhook?: StoredWebhook
}

export type Store = ReturnType<typeof openStore>

/**
 * Opens a JSON file in place of your database, for one process.
 *
 * @param file - Created by the first write.
 */
export function openStore(file: string) {
  const content: StoreContent = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as StoreContent)
    : { savers: {}, orders: {} }

  // Written to a new file and renamed, so that a crash keeps the previous content.
  function save(): void {
    writeFileSync(`${file}.new`, JSON.stringify(content, null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  return {
    findSaver: (userId: string) => content.savers[userId],
    findOrder: (id: string) => content.orders[id],
    findOrderOf: (intentId: string) =>
      Object.values(content.orders).find((order) => order.intentId === intentId),
    openOrders: () => Object.values(content.orders).filter(({ status }) => status === 'open'),
    webhook: () => content.webhook,
    putSaver(saver: Saver) {
      content.savers[saver.userId] = saver
      save()
      return saver
    },
    putOrder(order: SavingsOrder) {
      content.orders[order.id] = order
      save()
      return order
    },
    putWebhook(webhook: StoredWebhook) {
      content.webhook = webhook
      save()
      return webhook
    },
  }
}
