type RouteTarget =
  | { to: '/intents/$intentId'; params: { intentId: string } }
  | { to: '/wallets/$walletId'; params: { walletId: string } }
  | { to: '/requests'; search: { requestId: string; open: string } }
  | { to: '/keys'; search: { keyId: string } }
  | { to: '/webhooks/$webhookId'; params: { webhookId: string } }
  | { to: '/wallets'; search: { userId: string } }

/** The page of the resource with this id. An id without a known prefix is a user id of the customer. */
export function placeOf(id: string): RouteTarget {
  if (id.startsWith('intent_')) return { to: '/intents/$intentId', params: { intentId: id } }
  if (id.startsWith('svc_wallet_')) return { to: '/wallets/$walletId', params: { walletId: id } }
  if (id.startsWith('req_')) return { to: '/requests', search: { requestId: id, open: id } }
  if (id.startsWith('key_')) return { to: '/keys', search: { keyId: id } }
  if (id.startsWith('wh_')) return { to: '/webhooks/$webhookId', params: { webhookId: id } }
  return { to: '/wallets', search: { userId: id } }
}
