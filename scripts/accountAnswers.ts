import { getAccount, type AccountRow } from '../db/tenants/accounts.js'
import { readApiKeys } from '../db/tenants/apiKeys.js'
import { readCredits } from '../db/tenants/metering.js'
import { toTable } from './table.js'
import type { Db } from '../db/connection/connect.js'

/** What a command has to tell: to a reader, and as JSON to a program. */
export type Answer = { text: string; json: object }

/** An account with its limits and credits. */
export async function describeAccount(db: Db, id: string): Promise<Answer> {
  const account = await getAccount(db, id)
  const { balance, totalPurchased, totalUsed } = await readCredits(db, id)
  const { requestsPerMinute, maxWallets, monthlyCredits, suspendedAt } = account
  const text = `Account  ${id}
Name     ${account.name}
Plan     ${account.plan}
State    ${suspendedAt ? `suspended since ${time(suspendedAt)}` : 'active'}
Limits   ${requestsPerMinute} requests a minute, ${maxWallets ?? 'any number of'} wallets
Credits  ${balance} left, ${totalPurchased} bought, ${totalUsed} used
Monthly  ${monthlyCredits} credits, added by the first call of a month`
  const credits = { balance, totalPurchased, totalUsed }
  return { text, json: { account: { ...toJson(account), credits } } }
}

export function describeAccounts(accounts: AccountRow[]): Answer {
  const rows = accounts.map(({ id, name, plan, createdAt, suspendedAt }) => [
    ...[id, name, plan],
    ...[createdAt, suspendedAt].map(time),
  ])
  const names = ['ACCOUNT', 'NAME', 'PLAN', 'CREATED', 'SUSPENDED']
  const none = 'No account yet. Make one: create --plan pro --name NAME'
  return { text: toTable(none, names, rows), json: { accounts: accounts.map(toJson) } }
}

/** The keys of an account, without what is secret of them. */
export async function describeKeys(db: Db, accountId: string): Promise<Answer> {
  const keys = await readApiKeys(db, accountId)
  const rows = keys.map((key) => [
    ...[key.id, key.name, `${key.prefix}…${key.lastFour}`, key.scopes.join(',')],
    ...[key.createdAt, key.lastUsedAt, key.expiresAt, key.revokedAt].map(time),
  ])
  const names = ['KEY_ID', 'NAME', 'KEY', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED']
  const none = 'No keys. Make one: key create ACCOUNT --name NAME'
  return { text: toTable(none, names, rows), json: { keys } }
}

/** @param expiresAt - Null: never. */
export function describeNewKey(apiKey: string, expiresAt: Date | null): Answer {
  const lines = [
    `API key  ${apiKey}`,
    'Keep it: it is stored as a hash and cannot be shown again.',
    ...(expiresAt ? [`It expires ${time(expiresAt)}.`] : []),
  ]
  return { text: lines.join('\n'), json: { apiKey, expiresAt } }
}

export const time = (date: Date | null) => date?.toISOString().replace(/\.\d+/, '') ?? '-'

/** Credits of a month are far below what a number holds exactly. */
const toJson = ({ monthlyCredits, ...account }: AccountRow) => ({
  ...account,
  monthlyCredits: Number(monthlyCredits),
})
