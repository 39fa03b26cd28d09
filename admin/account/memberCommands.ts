import { readFileSync } from 'node:fs'
import path from 'node:path'
import { endInvitation, inviteMember, readInvitations } from '../../db/accounts/invitations.js'
import { createOperatorReset } from '../../db/accounts/passwordResets.js'
import { getAccount } from '../../db/accounts/accounts.js'
import { roles, type Role } from '../../domain/roles.js'
import { time, type CommandOutput } from './accountAnswers.js'
import { line, misuse, type Command } from './command.js'
import { recorded } from './pauseCommands.js'
import { toTable } from './table.js'
import type { Db } from '../../db/client/connect.js'

/** Links to the dashboard. The first member of an account, and each operator, needs an invitation. */
export const memberCommands: Record<string, Command> = {
  invite: recorded({
    args: [],
    options: ['account', 'email', 'role', 'operator', 'base-url'],
    prepare(values) {
      const accountId = line('--account', values.account)
      const role = readRole(values.role)
      const email = values.email === undefined ? undefined : readEmail(values.email)
      const base = readBaseUrl(values['base-url'], process.env)
      const isOperator = values.operator ?? false
      return async (db) => {
        await getAccount(db, accountId)
        const invitation = { accountId, email, role, isOperator }
        const { token, expiresAt } = await db.transaction((trx) => inviteMember(trx, invitation))
        const url = `${base}/dashboard/invitations/${token}`
        const text = `Link     ${url}\nIt works once, until ${time(expiresAt)}. Earlier links for the same e-mail are invalid now.`
        return { text, json: { url, expiresAt, role, email: email ?? null } }
      }
    },
  }),
  'invitation list': {
    args: ['ACCOUNT'],
    options: [],
    prepare: (_values, id) => (db) => describeInvitations(db, id),
  },
  'invitation withdraw': recorded({
    args: ['ACCOUNT', 'INVITATION_ID'],
    options: [],
    prepare:
      (_values, accountId = '', id = '') =>
      async (db) => {
        await endInvitation(db, accountId, id)
        return { text: 'Withdrawn. Its link stops working.', json: { withdrawn: id } }
      },
  }),
  'password reset': recorded({
    args: [],
    options: ['account', 'email', 'base-url'],
    prepare(values) {
      const accountId = line('--account', values.account)
      const email = readEmail(line('--email', values.email))
      const base = readBaseUrl(values['base-url'], process.env)
      return async (db) => {
        const token = await createOperatorReset(db, { accountId, email })
        const url = `${base}/dashboard/password-resets/${token}`
        return { text: `Link     ${url}\nIt works once, for a day.`, json: { url, email } }
      }
    },
  }),
}

/** The open invitations of an account, without their links. */
async function describeInvitations(db: Db, accountId: string): Promise<CommandOutput> {
  await getAccount(db, accountId)
  const invitations = await readInvitations(db, accountId)
  const rows = invitations.map(({ id, email, role, invitedBy, inviterEmail, ...times }) => [
    ...[id, email ?? '-', role],
    ...[invitedBy === null ? 'operator' : (inviterEmail ?? invitedBy)],
    ...[times.createdAt, times.expiresAt].map(time),
  ])
  const names = ['INVITATION_ID', 'E-MAIL', 'ROLE', 'INVITED BY', 'CREATED', 'EXPIRES']
  const none = 'No open invitations. Create one: invite --account ACCOUNT --role ROLE'
  return { text: toTable(none, names, rows), json: { invitations } }
}

function readRole(text: string | undefined): Role {
  const role = roles.find((one) => one === text)
  if (role) return role
  throw misuse(`--role must be one of ${roles.join(', ')}.`)
}

function readEmail(text: string): string {
  if (/^[^\s@]{1,64}@[^\s@]{1,189}$/.test(text)) return text.toLowerCase()
  throw misuse('--email must be an e-mail address.')
}

/** The URL of `--base-url`, else `PUBLIC_URL`, else that of a running `npm start`. */
function readBaseUrl(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const url = option ?? env.PUBLIC_URL ?? findHostUrl(env)
  if (url === undefined)
    throw misuse('--base-url is missing. Set it to the address of the service in browsers.')
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return new URL(url).origin
  throw misuse('--base-url must be an address such as https://steward.example.com.')
}

function findHostUrl({ DATABASE_URL, STEWARD_HOME }: NodeJS.ProcessEnv): string | undefined {
  if (DATABASE_URL) return undefined
  try {
    const file = path.resolve(STEWARD_HOME || '.steward', 'dev.json')
    return (JSON.parse(readFileSync(file, 'utf8')) as { hostUrl?: string }).hostUrl
  } catch {
    return undefined
  }
}
