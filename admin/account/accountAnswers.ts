import { getAccount, type AccountRow } from '../../db/accounts/accounts.js'
import { readApiKeys } from '../../db/accounts/apiKeys.js'
import { readCredits } from '../../db/usage/metering.js'
import { toTable } from './table.js'
import type { Db } from '../../db/client/connect.js'

/** The output of a command, as text and as JSON. */
export type CommandOutput = { text: string; json: object }

/** An account with its limits and credits. */
export async function describeAccount(db: Db, id: string): Promise<CommandOutput> {
  const account = await getAccount(db, id)
  const { balance, totalPurchased, totalUsed } = await readCredits(db, id)
  const { requestsPerMinute, maxWallets, monthlyCredits, suspendedAt } = account
  const text = `Account  ${id}
Name     ${account.name}
Plan     ${account.plan}
State    ${suspendedAt ? `suspended since ${time(suspendedAt)}` : 'active'}
Limits   ${requestsPerMinute} requests per minute, ${maxWallets ?? 'unlimited'} wallets
Credits  ${balance} left, ${totalPurchased} bought, ${totalUsed} used
Monthly  ${monthlyCredits} credits, granted by the first call of a month`
  const credits = { balance, totalPurchased, totalUsed }
  return { text, json: { account: { ...toJson(account), credits } } }
}

export function describeAccounts(accounts: AccountRow[]): CommandOutput {
  const rows = accounts.map(({ id, name, plan, createdAt, suspendedAt }) => [
    ...[id, name, plan],
    ...[createdAt, suspendedAt].map(time),
  ])
  const names = ['ACCOUNT', 'NAME', 'PLAN', 'CREATED', 'SUSPENDED']
  const none = 'No accounts. Create one: create --plan pro --name NAME'
  return { text: toTable(none, names, rows), json: { accounts: accounts.map(toJson) } }
}

/** The API keys of an account, without their secrets. */
export async function describeKeys(db: Db, accountId: string): Promise<CommandOutput> {
  const keys = await readApiKeys(db, accountId)
  const rows = keys.map((key) => [
    ...[key.id, key.name, `${key.prefix}…${key.lastFour}`, key.scopes.join(',')],
    ...[key.createdAt, key.lastUsedAt, key.expiresAt, key.revokedAt].map(time),
  ])
  const names = ['KEY_ID', 'NAME', 'KEY', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED']
  const none = 'No keys. Create one: key create ACCOUNT --name NAME'
  return { text: toTable(none, names, rows), json: { keys } }
}

/** @param expiresAt - Null: never. */
export function describeNewKey(apiKey: string, expiresAt: Date | null): CommandOutput {
  const lines = [
    `API key  ${apiKey}`,
    'Save it now. Only its hash is stored, so it cannot be shown again.',
    ...(expiresAt ? [`It expires at ${time(expiresAt)}.`] : []),
  ]
  return { text: lines.join('\n'), json: { apiKey, expiresAt } }
}

export const time = (date: Date | null) => date?.toISOString().replace(/\.\d+/, '') ?? '-'

/** Monthly credits are far below `Number.MAX_SAFE_INTEGER`. */
const toJson = ({ monthlyCredits, ...account }: AccountRow) => ({
  ...account,
  monthlyCredits: Number(monthlyCredits),
})
