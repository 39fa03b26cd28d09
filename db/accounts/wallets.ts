import { namedColumns } from '../client/columns.js'
import { newId } from '../client/ids.js'
import { runPrepared, type Statement } from '../client/prepared.js'
import { createLookup, selectScoped } from '../client/scope.js'
import { sliced, type Slice } from '../client/slice.js'
import type { Db } from '../client/connect.js'
import { ServiceError } from '../../domain/errors.js'

export type StoredWallet = {
  id: string
  accountId: string
  userId: string
  address: string
  metadata: Record<string, unknown>
  createdAt: Date
}

type NewWallet = Omit<StoredWallet, 'createdAt'>
/** The sealed private key of a wallet. */
type Secret = { kekId: string; sealed: Buffer }

const columns = [
  'id',
  'account_id as accountId',
  'user_id as userId',
  'address',
  'metadata',
  'created_at as createdAt',
]

const WALLET_PREFIX = 'svc_wallet_'
export const newWalletId = () => newId(WALLET_PREFIX)

/**
 * Stores a wallet and its sealed key. The caller's transaction has locked the account, so that the count is exact.
 *
 * @returns The wallet. Undefined, with nothing stored, when the account already has a wallet for this user.
 * @throws {ServiceError} WALLET_LIMIT_EXCEEDED when the account has the maximum of its plan.
 */
export async function insertWallet(
  trx: Db,
  wallet: NewWallet,
  { kekId, sealed }: Secret,
): Promise<StoredWallet | undefined> {
  const { id, accountId, userId, address } = wallet
  const metadata = JSON.stringify(wallet.metadata)
  const row = [id, accountId, userId, address, metadata]
  const [made] = await runPrepared<InsertedWallet>(trx, insertStatement, row)
  if (!made) return undefined
  const { createdAt, limit, before } = made
  if (limit !== null && before >= limit) {
    const message = `This plan allows ${limit} wallets.`
    throw new ServiceError('WALLET_LIMIT_EXCEEDED', message, { limit })
  }
  await trx('wallet_secret').insert({ wallet_id: id, kek_id: kekId, sealed })
  // Normalized as a reader receives it: -0 becomes 0.
  return { ...wallet, metadata: JSON.parse(metadata) as StoredWallet['metadata'], createdAt }
}

/** `before`: number of wallets of the account before. */
type InsertedWallet = { createdAt: Date; limit: number | null; before: number }
const insertStatement: Statement = {
  name: 'insertWallet',
  text: `insert into wallet as w (id, account_id, user_id, address, metadata) values ($1, $2, $3, $4, $5)
    on conflict (account_id, user_id) do nothing
    returning w.created_at as "createdAt",
      (select a.max_wallets from account a where a.id = w.account_id) as "limit",
      (select a.wallets from account a where a.id = w.account_id) as before`,
}
const SELECT = `select ${namedColumns('wallet', columns)} from wallet where account_id = scope.account`
const isWalletId = (key: string) => key.startsWith(WALLET_PREFIX)
const notFound = (message: string) => new ServiceError('WALLET_NOT_FOUND', message)

function noWalletOfUser(userId: string): ServiceError {
  if (!isWalletId(userId))
    return notFound('This userId has no wallet. Create one with POST /v1/wallets.')
  return notFound('This is the id of a wallet. Send the userId that it was created with.')
}

function noWalletWithId(id: string): ServiceError {
  const what = 'There is no wallet with this id. Use the id that POST /v1/wallets returned.'
  const form = `This is not the id of a wallet: those begin with ${WALLET_PREFIX}.`
  return notFound(isWalletId(id) ? what : `${form} Send the id, not the userId.`)
}

/** The wallet of a user of the account, by userId. */
export const walletByUser = createLookup<StoredWallet>(
  'wallet by user',
  `${SELECT} and user_id = call.key`,
  noWalletOfUser,
)
/** The wallet of the account with this id. */
export const walletById = createLookup<StoredWallet>(
  'wallet by id',
  `${SELECT} and id = call.key`,
  noWalletWithId,
)

/** Filters wallets by user, if one is given. */
type WalletsPage = { userId: string | undefined; slice: Slice }

/** The wallets of a page, newest first, plus one. */
export async function listWallets(
  db: Db,
  accountId: string,
  { userId, slice }: WalletsPage,
): Promise<StoredWallet[]> {
  const query = sliced(db('wallet').where({ account_id: accountId }), 'id', slice).select(columns)
  if (userId !== undefined) void query.where({ user_id: userId })
  return selectScoped<StoredWallet>(db, accountId, query)
}

/** A wallet that must exist, of any account. For the worker: the API's role cannot read it without a scope. */
export async function getWalletById(db: Db, id: string): Promise<StoredWallet> {
  return walletById.orThrow(
    await db('wallet').where({ id }).first<StoredWallet | undefined>(columns),
    id,
  )
}
