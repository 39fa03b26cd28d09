import { parseArgs } from 'node:util'
import { z } from 'zod'
import {
  createAccount,
  createApiKey,
  getAccount,
  grantCredits,
  readAccounts,
  resumeAccount,
  suspendAccount,
  type Scope,
} from '../db/tenants/accounts.js'
import { revokeApiKey, rollApiKey } from '../db/tenants/apiKeys.js'
import { changePlan } from '../db/tenants/plans.js'
import { tiers, type Tier } from '../domain/tiers.js'
import type { Db } from '../db/connection/connect.js'
import {
  describeAccount,
  describeAccounts,
  describeKeys,
  describeNewKey,
  time,
  type Answer,
} from './accountAnswers.js'
import { line, misuse, options, type Command } from './command.js'
import { describeLanes } from './laneAnswers.js'
import { memberCommands } from './memberCommands.js'
import { orderOf, stopCommands } from './stopCommands.js'

export const USAGE = `Usage: npm run account -- <command>

  create --plan free|pro|enterprise --name NAME     a new account and its first key
  list                                              all accounts
  show ACCOUNT                                      limits, credits and keys of an account
  plan ACCOUNT free|pro|enterprise                  another plan, with its limits
  suspend ACCOUNT --why TEXT [--by NAME]            refuses all its keys at once; what runs goes on
  resume ACCOUNT --why TEXT [--by NAME]             admits them again
  freeze ACCOUNT --why TEXT [--by NAME]             signs nothing more for its wallets; what was sent goes on, and
                                                    what was burned comes out
  unfreeze ACCOUNT --why TEXT [--by NAME]           lets what waits go on
  wallet freeze|unfreeze WALLET --why TEXT [--by NAME]
  chain pause|resume CHAIN --why TEXT [--by NAME]   signs nothing more on a chain, mints neither
  deployment pause|resume --why TEXT [--by NAME]    the same everywhere
  stops                                             what is frozen or paused, since when, by whom and why
  events                                            the latest of these acts of operators, suspensions too
  key create ACCOUNT --name NAME [--scopes read] [--expires DATE]
  key list ACCOUNT
  key revoke KEY_ID                                 ends a key at once
  key roll KEY_ID [--grace HOURS] [--expires DATE]  a successor that ends when the old key would have, or at
                                                    DATE; the old key ends after 24 hours
  credits grant ACCOUNT CREDITS [--reference TEXT]  credits that never lapse; a reference counts once
  invite --account ACCOUNT --role owner|developer|viewer [--email EMAIL] [--operator] [--base-url URL]
                                                    a link to the dashboard, good once and for a day; without an
                                                    e-mail whoever has it says his own; an operator sees the
                                                    whole deployment
  lanes                                             treasury and lanes: addresses, balances, open nonces, and how
                                                    long the gas lasts at its present price

The database is that of DATABASE_URL, with the rights of its owner, else that of a running npm start.
A key is shown once, when it is made. A DATE is 2027-01-01 or 2027-01-01T12:00:00Z, in UTC, or never.
Every command answers in JSON when told --json.`

/** Beyond these a number is a typing error. */
const MAX_CREDITS = 1_000_000_000
const MAX_GRACE_HOURS = 8_760

const commands: Record<string, Command> = {
  create: {
    args: [],
    options: ['plan', 'name'],
    prepare(values) {
      const plan = readPlan('--plan', values.plan)
      const name = line('--name', values.name)
      return async (db) => {
        const [id, key] = await db.transaction(async (trx) => {
          const account = await createAccount(trx, { name, plan })
          return [account.id, await createApiKey(trx, account.id, { name: 'first' })]
        })
        const made = describeNewKey(key, null)
        const { json } = await describeAccount(db, id)
        return { text: `Account  ${id}\n${made.text}`, json: { ...json, ...made.json } }
      }
    },
  },
  list: {
    args: [],
    options: [],
    prepare: () => async (db) => describeAccounts(await readAccounts(db)),
  },
  show: {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => async (db) => {
      const account = await describeAccount(db, id)
      const keys = await describeKeys(db, id)
      return { text: `${account.text}\n\n${keys.text}`, json: { ...account.json, ...keys.json } }
    },
  },
  plan: {
    args: ['ACCOUNT', 'PLAN'],
    options: [],
    prepare(_values, id, text) {
      const plan = readPlan('PLAN', text)
      return (db) => changed(db, id, changePlan(db, id, plan))
    },
  },
  suspend: {
    args: ['ACCOUNT'],
    options: ['why', 'by'],
    prepare(values, id) {
      const order = orderOf(values)
      return (db) => changed(db, id, suspendAccount(db, id, order))
    },
  },
  resume: {
    args: ['ACCOUNT'],
    options: ['why', 'by'],
    prepare(values, id) {
      const order = orderOf(values)
      return (db) => changed(db, id, resumeAccount(db, id, order))
    },
  },
  'key create': {
    args: ['ACCOUNT'],
    options: ['name', 'scopes', 'expires'],
    prepare(values, id) {
      const name = line('--name', values.name)
      const scopes = values.scopes === undefined ? {} : { scopes: readScopes(values.scopes) }
      const { expiresAt = null } = readExpiry(values.expires)
      const key = { name, ...scopes, ...(expiresAt && { expiresAt }) }
      return async (db) => describeNewKey(await createApiKey(db, id, key), expiresAt)
    },
  },
  'key list': {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await getAccount(db, id)
      return describeKeys(db, id)
    },
  },
  'key revoke': {
    args: ['KEY_ID'],
    options: [],
    prepare: (_values, id) => async (db) => {
      await revokeApiKey(db, id)
      return { text: 'Revoked.', json: { revoked: id } }
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
        const { key, expiresAt, oldEndsAt } = await rollApiKey(db, id, { ...hours, ...expiry })
        const { text, json } = describeNewKey(key, expiresAt)
        const end = `The old key ends ${time(oldEndsAt)}.`
        return { text: `${text}\n${end}`, json: { ...json, oldEndsAt } }
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
      return (db) => changed(db, id, grantCredits(db, id, { credits, reference: once }))
    },
  },
  lanes: {
    args: [],
    options: [],
    prepare: () => (db) => describeLanes(db, process.env),
  },
  ...memberCommands,
  ...stopCommands,
}

/** The account as it is after a change. */
async function changed(db: Db, id: string, change: Promise<void>): Promise<Answer> {
  await change
  return describeAccount(db, id)
}

function readPlan(name: string, text: string | undefined): Tier {
  const plan = tiers.find((tier) => tier === text)
  if (plan) return plan
  throw misuse(`${name} must be one of ${tiers.join(', ')}.`)
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

/** `expiresAt` is null for never, absent when nothing is told. */
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

const HELP = 'Help: npm run account -- --help'

/**
 * What a command line asks to be done, and told on standard output; undefined when it asks for help.
 *
 * @throws {ServiceError} INVALID_REQUEST, one line that says what is wrong with it.
 */
export function readCommand(argv: string[]): ((db: Db) => Promise<void>) | undefined {
  const { values, positionals } = parse(argv)
  if (values.help) return undefined
  const [first, second] = positionals
  if (!first) throw misuse(`Which command? ${HELP}`)
  const name = [`${first} ${second}`, first].find((one) => Object.hasOwn(commands, one))
  const command = name && commands[name]
  if (!command) throw misuse(`There is no command ${positionals.join(' ')}. ${HELP}`)
  const args = positionals.slice(name.split(' ').length)
  const missing = command.args.find((_name, i) => !args[i])
  if (missing) throw misuse(`${name}: ${missing} is missing.`)
  if (args.length > command.args.length) throw misuse(`${name}: ${args.at(-1)} is too much.`)
  const { json: asJson = false, ...others } = values
  const unknown = Object.keys(others).find((option) => !command.options.includes(option))
  if (unknown) throw misuse(`${name} has no option --${unknown}.`)
  const work = command.prepare(others, ...args)
  return async (db) => {
    const { text, json } = await work(db)
    console.log(asJson ? JSON.stringify(json, null, 2) : text)
  }
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
