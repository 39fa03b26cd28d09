type Place =
  | { to: '/intents/$intentId'; params: { intentId: string } }
  | { to: '/wallets/$walletId'; params: { walletId: string } }
  | { to: '/requests'; search: { requestId: string; open: string } }
  | { to: '/keys'; search: { keyId: string } }
  | { to: '/webhooks/$webhookId'; params: { webhookId: string } }
  | { to: '/wallets'; search: { userId: string } }

/** The page of what an id names. What has no prefix of ours is the caller's own id of a user. */
export function placeOf(id: string): Place {
  if (id.startsWith('intent_')) return { to: '/intents/$intentId', params: { intentId: id } }
  if (id.startsWith('svc_wallet_')) return { to: '/wallets/$walletId', params: { walletId: id } }
  if (id.startsWith('req_')) return { to: '/requests', search: { requestId: id, open: id } }
  if (id.startsWith('key_')) return { to: '/keys', search: { keyId: id } }
  if (id.startsWith('wh_')) return { to: '/webhooks/$webhookId', params: { webhookId: id } }
  return { to: '/wallets', search: { userId: id } }
}
