import { forgetBytes } from '../operations/signing/replacing.js'
import { pruneSignedAmounts } from '../operations/signing/signedAmounts.js'
import { deleteExpiredKeys } from '../db/accounts/idempotency.js'
import { deleteExpiredTokens } from '../db/accounts/readTokens.js'
import { pruneRequestDays } from '../db/usage/requests.js'
import { sumLedger } from '../db/usage/usage.js'
import { deleteOldDeliveries } from '../db/webhooks/sending.js'
import type { Db } from '../db/client/connect.js'

/** `prune` deletes or sums at most `limit` rows and returns their number. A lower number means that none is left. */
export type Prune = { what: string; prune: (db: Db, limit: number) => Promise<number> }

/** The statements that remove expired rows. `what` is the log message. */
export const prunes: Prune[] = [
  { what: 'expired idempotency keys deleted', prune: deleteExpiredKeys },
  { what: 'expired read tokens deleted', prune: deleteExpiredTokens },
  { what: 'signed amounts beyond the daily limit deleted', prune: pruneSignedAmounts },
  { what: 'old webhook deliveries deleted', prune: deleteOldDeliveries },
  { what: 'old request counts deleted', prune: pruneRequestDays },
  { what: 'bytes of final transactions deleted', prune: forgetBytes },
  { what: 'old ledger entries summed', prune: sumLedger },
]
