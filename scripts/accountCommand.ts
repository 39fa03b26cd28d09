import { parseArgs } from 'node:util'
import { z } from 'zod'
import {
  createAccount,
  createApiKey,
  getAccount,
  grantCredits,
  readAccounts,
  readApiKeys,
  revokeApiKey,
  rollApiKey,
  type Scope,
} from '../db/tenants/accounts.js'
import { readCredits } from '../db/tenants/metering.js'
import { ServiceError } from '../domain/errors.js'
import { tiers } from '../domain/tiers.js'
import type { Db } from '../db/connection/connect.js'

export const usage = `Usage: npm run account -- <command>

  create --plan free|pro|enterprise --name NAME     a new account and its first key
  list                                              all accounts
  show ACCOUNT                                      limits, credits and keys of an account
  key create ACCOUNT --name NAME [--scopes read] [--expires DATE]
  key list ACCOUNT
  key revoke KEY_ID                                 ends a key at once
  key roll KEY_ID [--grace HOURS] [--expires DATE]  a successor; the old key ends after 24 hours
  credits grant ACCOUNT CREDITS [--reference TEXT]  credits that never lapse; a reference counts once

The database is that of DATABASE_URL, with the rights of its owner, else that of a running npm start.
A key is shown once, when it is made. A DATE is 2027-01-01 or 2027-01-01T12:00:00Z, in UTC.`

const options = {
  plan: { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  reference: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
type Work = (db: Db) => Promise<void>

type Command = {
  /** Names of its positional arguments, all of which must be given, and of the options that it knows. */
  args: string[]
  options: string[]
  /** Checks the call before anything is connected, and returns what it does. */
  prepare(values: Values, ...args: string[]): Work
}

/** Beyond these a number is a typing error. */
const MAX_CREDITS = 1_000_000_000
const MAX_GRACE_HOURS = 8_760

const commands: Record<string, Command> = {
  create: {
    args: [],
    options: ['plan', 'name'],
    prepare(values) {
      const plan = tiers.find((name) => name === values.plan)
      if (!plan) throw misuse(`--plan must be one of ${tiers.join(', ')}.`)
      const name = line('--name', values.name)
      return async (db) => {
        const [id, key] = await db.transaction(async (trx) => {
          const account = await createAccount(trx, { name, plan })
          return [account.id, await createApiKey(trx, account.id, 'first')]
        })
        console.log(`Account  ${id}`)
        showKey(key)
      }
    },
  },
  list: {
    args: [],
    options: [],
    prepare: () => async (db) => {
      const accounts = await readAccounts(db)
      const rows = accounts.map(({ id, name, plan, createdAt }) => [
        id,
        name,
        plan,
        time(createdAt),
      ])
      showTable('No account yet. Make one: create --plan pro --name NAME', [
        ...[['ACCOUNT', 'NAME', 'PLAN', 'CREATED'], ...rows],
      ])
    },
  },
  show: {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await showAccount(db, id)
      console.log('')
      await showKeys(db, id)
    },
  },
  'key create': {
    args: ['ACCOUNT'],
    options: ['name', 'scopes', 'expires'],
    prepare(values, id) {
      const name = line('--name', values.name)
      const scopes = values.scopes === undefined ? {} : { scopes: readScopes(values.scopes) }
      const expiry = readExpiry(values.expires)
      return async (db) => {
        showKey(await createApiKey(db, id, name, { ...scopes, ...expiry }), expiry.expiresAt)
      }
    },
  },
  'key list': {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await getAccount(db, id)
      await showKeys(db, id)
    },
  },
  'key revoke': {
    args: ['KEY_ID'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await revokeApiKey(db, id)
      console.log('Revoked.')
    },
  },
  'key roll': {
    args: ['KEY_ID'],
    options: ['grace', 'expires'],
    prepare(values, id) {
      const { grace } = values
      const hours =
        grace === undefined ? {} : { graceHours: whole('--grace', grace, 0, MAX_GRACE_HOURS) }
      const expiry = readExpiry(values.expires)
      return async (db) => {
        const { key, oldEndsAt } = await rollApiKey(db, id, { ...hours, ...expiry })
        showKey(key, expiry.expiresAt)
        console.log(`The old key ends ${time(oldEndsAt)}.`)
      }
    },
  },
  'credits grant': {
    args: ['ACCOUNT', 'CREDITS'],
    options: ['reference'],
    prepare(values, id, text = '') {
      const credits = whole('CREDITS', text, 1, MAX_CREDITS)
      const { reference } = values
      const once = reference === undefined ? undefined : line('--reference', reference)
      return async (db) => {
        await grantCredits(db, id, credits, once)
        await showAccount(db, id)
      }
    },
  },
}

async function showAccount(db: Db, id: string): Promise<void> {
  const account = await getAccount(db, id)
  const { balance, totalPurchased, totalUsed } = await readCredits(db, id)
  const { requestsPerMinute, maxWallets, monthlyCredits } = account
  console.log(`Account  ${id}
Name     ${account.name}
Plan     ${account.plan}
Limits   ${requestsPerMinute} requests a minute, ${maxWallets ?? 'any number of'} wallets
Credits  ${balance} left, ${totalPurchased} bought, ${totalUsed} used
Monthly  ${monthlyCredits} credits, added by the first call of a month`)
}

async function showKeys(db: Db, account: string): Promise<void> {
  const keys = await readApiKeys(db, account)
  const rows = keys.map((key) => [
    ...[key.id, key.name, `${key.prefix}…${key.lastFour}`, key.scopes.join(',')],
    ...[key.createdAt, key.lastUsedAt, key.expiresAt, key.revokedAt].map(time),
  ])
  showTable('No keys. Make one: key create ACCOUNT --name NAME', [
    ['KEY_ID', 'NAME', 'KEY', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'],
    ...rows,
  ])
}

function showKey(key: string, expiresAt?: Date): void {
  console.log(`API key  ${key}`)
  console.log('Keep it: it is stored as a hash and cannot be shown again.')
  if (expiresAt) console.log(`It expires ${time(expiresAt)}.`)
}

/** Columns as wide as what they hold; the first row names them. */
function showTable(none: string, table: string[][]): void {
  if (table.length === 1) return console.log(none)
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? []
  for (const row of table) {
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

const time = (date: Date | null) => date?.toISOString().replace(/\.\d+/, '') ?? '-'

/** Text for one cell of a table. */
function line(name: string, text: string | undefined): string {
  if (text === undefined) throw misuse(`${name} is missing.`)
  if (/^(?=.*\S)\P{Cc}{1,100}$/u.test(text)) return text
  throw misuse(`${name} must be a line of 1 to 100 characters.`)
}

function whole(name: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (number >= min && number <= max) return number
  throw misuse(`${name} must be a whole number from ${min} to ${max}.`)
}

function readScopes(text: string): Scope[] {
  const { data } = z.array(z.enum(['read', 'write'])).safeParse(text.split(','))
  if (!data) throw misuse('--scopes must be read, write or read,write.')
  return [...new Set(data)]
}

function readExpiry(text: string | undefined): { expiresAt?: Date } {
  if (text === undefined) return {}
  const { data } = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text)
  if (!data) throw misuse('--expires must be a date such as 2027-01-01 or 2027-01-01T12:00:00Z.')
  const expiresAt = new Date(data)
  if (expiresAt.getTime() <= Date.now()) throw misuse(`--expires ${data} has passed.`)
  return { expiresAt }
}

const help = 'Help: npm run account -- --help'
const misuse = (message: string) => new ServiceError('INVALID_REQUEST', message)

/**
 * The work that a command line asks for; undefined when it asks for help.
 *
 * @throws {ServiceError} INVALID_REQUEST, one line that says what is wrong with it.
 */
export function readCommand(argv: string[]): Work | undefined {
  const { values, positionals } = parse(argv)
  if (values.help) return undefined
  const [first, second] = positionals
  if (!first) throw misuse(`Which command? ${help}`)
  const name = [`${first} ${second}`, first].find((one) => Object.hasOwn(commands, one))
  const command = name && commands[name]
  if (!command) throw misuse(`There is no command ${positionals.join(' ')}. ${help}`)
  const args = positionals.slice(name.split(' ').length)
  const missing = command.args.find((_name, i) => !args[i])
  if (missing) throw misuse(`${name}: ${missing} is missing.`)
  if (args.length > command.args.length) throw misuse(`${name}: ${args.at(-1)} is too much.`)
  const unknown = Object.keys(values).find((option) => !command.options.includes(option))
  if (unknown) throw misuse(`${name} has no option --${unknown}.`)
  return command.prepare(values, ...args)
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options, allowPositionals: true })
  } catch (error) {
    // Node adds advice for rarer mistakes to its first sentence.
    const [first = ''] = (error as Error).message.split(/(?<=\.)\s/)
    throw misuse(first)
  }
}
