import type { ApiKey } from '../../../../db/accounts/accounts.js'
import type { KeyEntry } from '../../../schemas/dashboard.js'

export const keyBody = (key: ApiKey): KeyEntry => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  lastFour: key.lastFour,
  scopes: key.scopes,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  revokedAt: key.revokedAt?.toISOString() ?? null,
})
