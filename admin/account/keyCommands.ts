import { z } from 'zod'
import { createApiKey, getAccount, type Scope } from '../../db/accounts/accounts.js'
import { revokeApiKey, rollApiKey } from '../../db/accounts/apiKeys.js'
import { describeKeys, describeNewKey, time } from './accountAnswers.js'
import { line, misuse, whole, type Command } from './command.js'
import { recorded } from './pauseCommands.js'

/** A higher number is a typing error. */
const MAX_GRACE_HOURS = 8_760

/** Commands for the API keys of an account. */
export const keyCommands: Record<string, Command> = {
  'key create': recorded({
    args: ['ACCOUNT'],
    options: ['name', 'scopes', 'expires'],
    prepare(values, id) {
      const name = line('--name', values.name)
      const scopes = values.scopes === undefined ? {} : { scopes: readScopes(values.scopes) }
      const { expiresAt = null } = readExpiry(values.expires)
      const key = { name, ...scopes, ...(expiresAt && { expiresAt }) }
      return async (db) => describeNewKey(await createApiKey(db, id, key), expiresAt)
    },
  }),
  'key list': {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await getAccount(db, id)
      return describeKeys(db, id)
    },
  },
  'key revoke': recorded({
    args: ['KEY_ID'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await revokeApiKey(db, id)
      return { text: 'Revoked.', json: { revoked: id } }
    },
  }),
  'key roll': recorded({
    args: ['KEY_ID'],
    options: ['grace', 'expires'],
    prepare(values, id) {
      const { grace } = values
      const hours =
        grace === undefined ? {} : { graceHours: whole('--grace', grace, 0, MAX_GRACE_HOURS) }
      const expiry = readExpiry(values.expires)
      return async (db) => {
        const { key, expiresAt, oldEndsAt } = await rollApiKey(db, id, { ...hours, ...expiry })
        const { text, json } = describeNewKey(key, expiresAt)
        const end = `The old key ends at ${time(oldEndsAt)}.`
        return { text: `${text}\n${end}`, json: { ...json, oldEndsAt } }
      }
    },
  }),
}

function readScopes(text: string): Scope[] {
  const { data } = z.array(z.enum(['read', 'write'])).safeParse(text.split(','))
  if (!data) throw misuse('--scopes must be read, write or read,write.')
  return [...new Set(data)]
}

/** `expiresAt`: null for `never`, absent without the option. */
function readExpiry(text: string | undefined): { expiresAt?: Date | null } {
  if (text === undefined) return {}
  if (text === 'never') return { expiresAt: null }
  const { data } = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text)
  if (!data) {
    throw misuse('--expires must be a date such as 2027-01-01 or 2027-01-01T12:00:00Z, or never.')
  }
  const expiresAt = new Date(data)
  if (expiresAt.getTime() <= Date.now()) throw misuse(`--expires ${data} has passed.`)
  return { expiresAt }
}
