import { parseArgs } from 'node:util'
import {
  createAccount,
  createApiKey,
  grantCredits,
  readAccounts,
  resumeAccount,
  suspendAccount,
} from '../../db/accounts/accounts.js'
import { changePlan } from '../../db/accounts/plans.js'
import { tiers, type Tier } from '../../domain/tiers.js'
import type { Db } from '../../db/client/connect.js'
import {
  describeAccount,
  describeAccounts,
  describeKeys,
  describeNewKey,
  type CommandOutput,
} from './accountAnswers.js'
import { line, misuse, options, whole, type Command } from './command.js'
import { keyCommands } from './keyCommands.js'
import { describeSenders } from './senderAnswers.js'
import { memberCommands } from './memberCommands.js'
import { orderOf, pauseCommands, recorded } from './pauseCommands.js'

export const USAGE = `Usage: npm run account -- <command>

  create --plan free|pro|enterprise --name NAME     creates an account and its first key
  list                                              lists all accounts
  show ACCOUNT                                      shows limits, credits and keys of an account
  plan ACCOUNT free|pro|enterprise                  changes the plan and its limits
  suspend ACCOUNT --why TEXT [--by NAME]            rejects all its keys at once; running intents continue
  resume ACCOUNT --why TEXT [--by NAME]             accepts its keys again
  freeze ACCOUNT --why TEXT [--by NAME]             stops signing and sending for its wallets at once; burned money is
                                                    still minted
  unfreeze ACCOUNT --why TEXT [--by NAME]           resumes signing and sending for its wallets
  wallet freeze|unfreeze WALLET --why TEXT [--by NAME]
  chain pause|resume CHAIN --why TEXT [--by NAME]   stops or resumes all signing and sending on a chain
  deployment pause|resume --why TEXT [--by NAME]    stops or resumes all signing and sending
  pauses                                             lists pauses and freezes with time, operator and reason
  events                                            shows the latest entries of the audit log
  key create ACCOUNT --name NAME [--scopes read] [--expires DATE]
  key list ACCOUNT
  key revoke KEY_ID                                 revokes a key at once
  key roll KEY_ID [--grace HOURS] [--expires DATE]  replaces a key; the old key ends after 24 hours or HOURS, the
                                                    new one keeps its expiry unless DATE is given
  credits grant ACCOUNT CREDITS [--reference TEXT]  grants credits that do not expire; a reference counts once
  invite --account ACCOUNT --role owner|developer|viewer [--email EMAIL] [--operator] [--base-url URL]
                                                    creates a dashboard link, valid once within a day; without
                                                    --email the invited person enters theirs; an operator sees
                                                    the whole deployment
  invitation list ACCOUNT                           lists the open invitations of an account
  invitation withdraw ACCOUNT INVITATION_ID         ends an open invitation; its link stops working at once
  password reset --account ACCOUNT --email EMAIL [--base-url URL]
                                                    creates a link, valid once within a day, with which a member
                                                    chooses a new password
  senders                                             shows treasury and senders: addresses, balances, open nonces,
                                                    and how long the gas lasts at the current price

create, plan, key, credits, invite, invitation and password reset take --why TEXT and --by NAME for the audit log as well.
Uses the database of DATABASE_URL, with the role of its owner, otherwise that of a running npm start.
A key is shown once, when it is created. DATE is 2027-01-01 or 2027-01-01T12:00:00Z, in UTC, or never.
--json prints the output of any command as JSON.`

/** A higher number is a typing error. */
const MAX_CREDITS = 1_000_000_000

const commands: Record<string, Command> = {
  create: recorded({
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
  }),
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
  plan: recorded({
    args: ['ACCOUNT', 'PLAN'],
    options: [],
    prepare(_values, id, text) {
      const plan = readPlan('PLAN', text)
      return (db) => changed(db, id, changePlan(db, id, plan))
    },
  }),
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
  'credits grant': recorded({
    args: ['ACCOUNT', 'CREDITS'],
    options: ['reference'],
    prepare(values, id, text = '') {
      const credits = whole('CREDITS', text, 1, MAX_CREDITS)
      const { reference } = values
      const once = reference === undefined ? undefined : line('--reference', reference)
      return (db) => changed(db, id, grantCredits(db, id, { credits, reference: once }))
    },
  }),
  senders: {
    args: [],
    options: [],
    prepare: () => (db) => describeSenders(db, process.env),
  },
  ...keyCommands,
  ...memberCommands,
  ...pauseCommands,
}

/** Describes the account after a change. */
async function changed(db: Db, id: string, change: Promise<void>): Promise<CommandOutput> {
  await change
  return describeAccount(db, id)
}

function readPlan(name: string, text: string | undefined): Tier {
  const plan = tiers.find((tier) => tier === text)
  if (plan) return plan
  throw misuse(`${name} must be one of ${tiers.join(', ')}.`)
}

const HELP = 'Help: npm run account -- --help'

/**
 * Parses a command line. The returned function runs the command and prints its output; undefined for `--help` and for an
 * empty command line.
 *
 * @throws {ServiceError} INVALID_REQUEST, with the problem in one line.
 */
export function readCommand(argv: string[]): ((db: Db) => Promise<void>) | undefined {
  const { values, positionals } = parse(argv)
  if (values.help || argv.length === 0) return undefined
  const [first, second] = positionals
  if (!first) throw misuse(`The command is missing. ${HELP}`)
  const name = [`${first} ${second}`, first].find((one) => Object.hasOwn(commands, one))
  const command = name && commands[name]
  if (!command) throw misuse(`Unknown command ${positionals.join(' ')}. ${HELP}`)
  const args = positionals.slice(name.split(' ').length)
  const missing = command.args.find((_name, i) => !args[i])
  if (missing) throw misuse(`${name}: ${missing} is missing.`)
  if (args.length > command.args.length)
    throw misuse(`${name}: unexpected argument ${args.at(-1)}.`)
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
    // Keep only the first sentence. Node appends advice for rare mistakes.
    const [first = ''] = (error as Error).message.split(/(?<=\.)\s/)
    throw misuse(first)
  }
}
