import type { Api } from '../http/api.js'
import type { CallOptions } from '../http/send.js'

export type CreditAccount = {
  balance: number
  totalPurchased: number
  totalUsed: number
  plan: string
}

export const createCredits = ({ get }: Api) => ({
  /** Credits of the account. Free. */
  get: (options?: CallOptions): Promise<CreditAccount> => get('/dashboard/credits', {}, options),
})
