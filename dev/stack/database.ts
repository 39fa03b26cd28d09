import { createAccount, createApiKey, isLiveKey, keyDigest } from '../../db/accounts/accounts.js'
import { inviteMember } from '../../db/accounts/invitations.js'
import { claimNetwork, connect, type Db } from '../../db/client/connect.js'
import { migrate } from '../../db/client/migrate.js'
import { assertSameSet, type Home, type Secrets, type StateSet } from '../state/state.js'
import { writeJson } from '../state/jsonFile.js'
import { UserError } from '../terminal.js'

const START_OVER = 'Start over with: npm start -- --fresh (it deletes all wallets and intents).'

/**
 * Prepares a database for the services: checks that it belongs to the set, migrates it, and creates the demo
 * account's API key if it is missing.
 *
 * @param url - Connection of the owner.
 * @returns The API key, and the token of a dashboard link for the owner until they have used one.
 */
export async function prepareDatabase(
  url: string,
  home: Home,
  set: StateSet,
  secrets: Secrets,
): Promise<Demo> {
  const db = connect(url, 2)
  try {
    const mark = await readMark(db).catch((cause: unknown) => {
      const { host } = new URL(url)
      const reason = (cause as Error).message
      throw new UserError(`The database at ${host} cannot be used: ${reason}`, { cause })
    })
    assertSameSet('The database', mark, set)
    await migrate(url, secrets).catch((cause: unknown) => {
      const reason = (cause as Error).message
      throw new UserError(`The database cannot be migrated: ${reason}. ${START_OVER}`, { cause })
    })
    await claimNetwork(db, 'devnet')
    if (mark === undefined) await writeMark(db, set.id)
    const apiKey = await ensureDemoKey(db, home, secrets)
    return { apiKey, invitation: await inviteDemoOwner(db, apiKey) }
  } finally {
    await db.destroy()
  }
}

/** The credentials of the demo account. */
export type Demo = { apiKey: string; invitation: string | null }

/** A new link for each start, valid for a day. None once the account has a member. */
async function inviteDemoOwner(db: Db, apiKey: string): Promise<string | null> {
  const [accountId = ''] = await db('api_key')
    .where({ key_hash: keyDigest(apiKey) ?? null })
    .pluck<string[]>('account_id')
  if (await db('membership').where({ account_id: accountId }).first('user_id')) return null
  const invitation = { accountId, role: 'owner', isOperator: true } as const
  const { token } = await db.transaction((trx) => inviteMember(trx, invitation))
  return token
}

/** The connection of a service: the owner's, with the role and password of the service. */
export function connectionOf(ownerUrl: string, service: string, password: string): string {
  const url = new URL(ownerUrl)
  url.username = `steward_${service}`
  url.password = password
  return url.toString()
}

export type SignerAccounts = {
  treasury: string | undefined
  senders: { chainId: bigint; sender: string }[]
}

/** The signer's accounts, which need money on the chains. */
export async function readOperators(url: string): Promise<SignerAccounts> {
  const db = connect(url, 1)
  try {
    const senders = await db('sender').select<SignerAccounts['senders']>(
      'chain_id as chainId',
      'sender',
    )
    const [treasury] = await db('treasury').pluck<string[]>('address')
    return { senders, treasury }
  } finally {
    await db.destroy()
  }
}

async function ensureDemoKey(db: Db, home: Home, secrets: Secrets): Promise<string> {
  if (secrets.apiKey && (await isLiveKey(db, secrets.apiKey))) return secrets.apiKey
  const { id } = await createAccount(db, { name: 'Demo', plan: 'pro' })
  const apiKey = await createApiKey(db, id, { name: 'npm start' })
  writeJson(home.secrets, { ...secrets, apiKey })
  return apiKey
}

/** Id of the set that the database belongs to. A text that is no id when its wallets belong to no set. */
export async function readMark(db: Db): Promise<string | undefined> {
  if (await db.schema.withSchema('steward_dev').hasTable('state_set')) {
    const [id] = await db.withSchema('steward_dev').table('state_set').pluck<string[]>('id')
    return id
  }
  if (!(await db.schema.hasTable('wallet'))) return undefined
  return (await db('wallet').first('id')) ? 'wallets that npm start did not make' : undefined
}

async function writeMark(db: Db, id: string): Promise<void> {
  await db.raw('create schema if not exists steward_dev')
  await db.raw('create table if not exists steward_dev.state_set (id text primary key)')
  await db.raw('insert into steward_dev.state_set values (?) on conflict do nothing', [id])
}
