import type { Scope } from '../../../db/accounts/accounts.js'

/** An authenticated caller. All of its work is scoped to one account. */
export type Caller = { accountId: string; scopes: readonly Scope[] }
