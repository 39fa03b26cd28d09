import { parseArgs } from 'node:util'
import {
  createAccount,
  createApiKey,
  grantCredits,
  readAccounts,
  readApiKeys,
  revokeApiKey,
  rollApiKey,
  type Scope,
} from '../db/accounts.js'
import { connect, type Db } from '../db/connect.js'
import { readCredits } from '../db/metering.js'
import { ServiceError } from '../domain/errors.js'
import { planNames } from '../domain/tiers.js'

const usage = `Usage: npm run account -- <command>

  create --plan free|pro|enterprise --name NAME     a new account and its first key
  list                                              all accounts
  show ACCOUNT                                      credits and keys of an account
  key create ACCOUNT --name NAME [--scopes read] [--expires 2027-01-01]
  key list ACCOUNT
  key revoke KEY_ID                                 ends a key at once
  key roll KEY_ID [--grace HOURS]                   a successor; the old key ends after 24 hours
  credits grant ACCOUNT CREDITS [--reference TEXT]  credits that never lapse

DATABASE_URL names the database, with the rights of its owner. A key is shown once, when it is made.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plan: { type: 'string' },
    name: { type: 'string' },
    scopes: { type: 'string' },
    expires: { type: 'string' },
    grace: { type: 'string' },
    reference: { type: 'string' },
  },
})

type Command = (db: Db, args: string[]) => Promise<void>

const commands: Record<string, Command> = {
  async create(db) {
    const plan = planNames.find((name) => name === values.plan)
    if (!plan) throw misuse(`--plan must be one of ${planNames.join(', ')}.`)
    const name = required(values.name, '--name')
    const { id } = await createAccount(db, { name, plan })
    console.log(`Account  ${id}`)
    showKey(await createApiKey(db, id, 'first'))
  },
  async list(db) {
    const accounts = await readAccounts(db)
    if (accounts.length === 0)
      console.log('No account yet. Make one: create --plan pro --name NAME')
    else console.table(accounts)
  },
  async show(db, [account]) {
    const id = required(account, 'ACCOUNT')
    console.table(await readCredits(db, id))
    console.table(await readApiKeys(db, id))
  },
  async 'key create'(db, [account]) {
    const expiresAt = values.expires ? new Date(values.expires) : undefined
    if (expiresAt && Number.isNaN(expiresAt.getTime())) throw misuse('--expires must be a date.')
    const scopes = values.scopes?.split(',').map(toScope)
    const id = required(account, 'ACCOUNT')
    const options = { ...(scopes && { scopes }), ...(expiresAt && { expiresAt }) }
    showKey(await createApiKey(db, id, required(values.name, '--name'), options))
  },
  async 'key list'(db, [account]) {
    console.table(await readApiKeys(db, required(account, 'ACCOUNT')))
  },
  async 'key revoke'(db, [key]) {
    await revokeApiKey(db, required(key, 'KEY_ID'))
    console.log('Revoked.')
  },
  async 'key roll'(db, [key]) {
    const grace = values.grace === undefined ? undefined : positive(values.grace, '--grace')
    showKey(await rollApiKey(db, required(key, 'KEY_ID'), grace))
  },
  async 'credits grant'(db, [account, credits]) {
    const id = required(account, 'ACCOUNT')
    await grantCredits(db, id, positive(required(credits, 'CREDITS'), 'CREDITS'), values.reference)
    console.table(await readCredits(db, id))
  },
}

function showKey(key: string): void {
  console.log(`API key  ${key}\nKeep it: it is stored as a hash and cannot be shown again.`)
}

function toScope(text: string): Scope {
  if (text === 'read' || text === 'write') return text
  throw misuse('--scopes must be read, write or both with a comma.')
}

function required(value: string | undefined, name: string): string {
  if (value) return value
  throw misuse(`${name} is missing.`)
}

function positive(text: string, name: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw misuse(`${name} must be a whole number above zero.`)
}

function misuse(message: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `${message}\n\n${usage}`)
}

async function main(): Promise<void> {
  const url = process.env.DATABASE_URL
  if (!url) throw misuse('DATABASE_URL is not set.')
  const [first = '', second = '', ...rest] = positionals
  const pair = commands[`${first} ${second}`]
  const command = pair ?? commands[first]
  if (!command) throw misuse(first ? `There is no command ${first}.` : 'Which command?')
  const db = connect(url, 1)
  try {
    await command(db, pair ? rest : [second, ...rest])
  } finally {
    await db.destroy()
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof ServiceError ? error.message : error)
  process.exitCode = 1
})
