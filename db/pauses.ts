import { ServiceError } from '../domain/errors.js'
import { recordAuditEvent, type Order } from './auditEvents.js'
import { runPrepared, type Statement } from './client/prepared.js'
import { createLookup } from './client/scope.js'
import { walletById, type StoredWallet } from './accounts/wallets.js'
import type { Db } from './client/connect.js'
import type { PauseScope } from '../domain/intent/waiting.js'

export type { PauseScope }

/**
 * The target of a pause or freeze. `subject`: id of an account or wallet, number of a chain, or empty for the deployment.
 * `name`: how messages name the subject. Absent: by its id.
 */
export type PauseTarget = { scope: PauseScope; subject: string; name?: string }

/**
 * SQL condition: the pause `s` applies to the operation `op`. A freeze of a wallet or account never blocks the mint of
 * burned money.
 */
export const concerns = `(s.scope = 'deployment'
      or s.scope = 'chain' and s.subject = op.chain_id::text
      or op.kind <> 'mint' and (s.scope = 'account' and s.subject = op.account_id
        or s.scope = 'wallet' and s.subject = op.wallet_id))`

/** SQL condition: no pause applies to the operation `op`. */
export const isNotPaused = `not exists (select from pause s where s.until is null and ${concerns})`

/** SQL condition: the pause `s` freezes a wallet or its account. */
export const freezes = (account: string, wallet: string): string =>
  `s.until is null and (s.scope = 'account' and s.subject = ${account} or s.scope = 'wallet' and s.subject = ${wallet})`

/** What must not leave now. `isPaused`: nothing of the chain may. `operations`: ids of those that may not. */
type Withheld = { isPaused: boolean; operations: string[] }

/**
 * Decides what may leave now. The signer asks in each transaction that stores a signature, a replacement or a refill.
 * The relayer asks before each broadcast.
 *
 * @param operations - Ids of the operations that are to leave; none for a transfer between senders.
 */
export async function readWithheld(
  db: Db,
  chainId: number | bigint,
  operations: string[],
): Promise<Withheld> {
  const [row] = await runPrepared<Withheld>(db, withheldStatement, [chainId.toString(), operations])
  if (!row) throw new Error('The pauses were not read.')
  return row
}

const withheldStatement: Statement = {
  name: 'withheld',
  // Parameters in subqueries, so that the generic plan is reused.
  text: `select exists (select from pause s where s.until is null
      and (s.scope = 'deployment' or s.scope = 'chain' and s.subject = (select $1::text))) as "isPaused",
    array(select op.id from operation op
      where op.id = any ((select $2)::text[]) and not ${isNotPaused}) as operations`,
}

/**
 * Pauses a chain or the deployment, or freezes an account or wallet. It waits for no signer and no relayer: once it
 * is committed, nothing in its scope leaves any more. Sent transactions are still watched.
 *
 * @throws {ServiceError} NOT_FOUND for an unknown account or wallet. INVALID_REQUEST when it is already paused or frozen.
 */
export async function pauseWork(db: Db, target: PauseTarget, order: Order): Promise<void> {
  const { scope, subject } = target
  await assertThere(db, target)
  await db.transaction(async (trx) => {
    const begun_by = await recordAuditEvent(trx, actionOf(target, 0), order)
    // A unique index allows one open pause of a target.
    const begun = await trx('pause')
      .insert({ scope, subject, begun_by })
      .onConflict(trx.raw('(scope, subject) where until is null'))
      .ignore()
      .returning<object[]>('id')
    if (begun.length > 0) return
    const message = `${nameOf(target)} is already ${past[scope]}.`
    throw new ServiceError('INVALID_REQUEST', message)
  })
}

/**
 * Ends a pause or freeze, and notifies the signers.
 *
 * @throws {ServiceError} INVALID_REQUEST when it is not paused or frozen.
 */
export async function resumeWork(db: Db, target: PauseTarget, order: Order): Promise<void> {
  const { scope, subject } = target
  await db.transaction(async (trx) => {
    const ended_by = await recordAuditEvent(trx, actionOf(target, 1), order)
    const until = trx.raw('greatest(clock_timestamp(), since)')
    const ended = await trx('pause')
      .where({ scope, subject })
      .whereNull('until')
      .update({ until, ended_by })
    if (ended !== 1) {
      const message = `${nameOf(target)} is not ${past[scope]}.`
      throw new ServiceError('INVALID_REQUEST', message)
    }
    const wake = JSON.stringify({ id: '', state: 'queued' })
    await trx.raw(`select pg_notify('operation', ?)`, [wake])
  })
}

/** Names of the two actions in the audit log, per scope. */
const verbs: Record<PauseScope, [pause: string, resume: string]> = {
  account: ['freeze', 'unfreeze'],
  wallet: ['freeze', 'unfreeze'],
  chain: ['pause', 'resume'],
  deployment: ['pause', 'resume'],
}

const past: Record<PauseScope, string> = {
  account: 'frozen',
  wallet: 'frozen',
  chain: 'paused',
  deployment: 'paused',
}

const actionOf = ({ scope, subject }: PauseTarget, verb: 0 | 1) => ({
  action: `${scope} ${verbs[scope][verb]}`,
  subject,
})

const nameOf = ({ scope, subject, name = subject }: PauseTarget) =>
  `The ${[scope, name].join(' ').trim()}`

async function assertThere(db: Db, { scope, subject }: PauseTarget): Promise<void> {
  if (scope !== 'account' && scope !== 'wallet') return
  const row = await db(scope).where({ id: subject }).first<object | undefined>('id')
  if (!row) throw new ServiceError('NOT_FOUND', `There is no ${scope} ${subject}.`)
}

/** An open pause or freeze. */
export type Pause = PauseTarget & { since: Date }
/** A pause of a chain or the deployment. `isAutomatic`: the service paused the chain itself. */
export type SigningPause = Pause & { isAutomatic: boolean }

/** Open pauses of chains and of the deployment. */
export async function readPauses(db: Db): Promise<SigningPause[]> {
  return db('pause')
    .whereNull('until')
    .whereIn('scope', ['chain', 'deployment'])
    .orderBy('since')
    .select<SigningPause[]>('scope', 'subject', 'since', 'is_automatic as isAutomatic')
}

/** A clause that describes a pause. Its operator and reason are for operators only. */
export const describePause = ({ scope, since, isAutomatic }: SigningPause) => {
  const by = isAutomatic ? 'because endpoints contradict each other' : 'by an operator'
  return `the ${scope} is paused ${by} since ${since.toISOString()}`
}

/** Why nothing is signed on a chain: the broadest pause, as a clause. Undefined without a pause. */
export function whyPaused(pauses: SigningPause[], chainId: number): string | undefined {
  const whole = pauses.find(({ scope }) => scope === 'deployment')
  const own = pauses.find(({ scope, subject }) => scope === 'chain' && subject === String(chainId))
  const pause = whole ?? own
  return pause && describePause(pause)
}

/** All open pauses and freezes with operator and reason, the oldest first. */
export async function readOpenPauses(db: Db): Promise<(Pause & Order)[]> {
  return db('pause as s')
    .join('audit_event as e', 'e.id', 's.begun_by')
    .whereNull('s.until')
    .orderBy('s.since')
    .select('s.scope', 's.subject', 's.since', 'e.actor as by', 'e.why')
}

/** The broadest pause or freeze that blocks an operation, or undefined. */
export async function findPause(
  db: Db,
  { id }: { id: string },
): Promise<(Pause & Order) | undefined> {
  const widest = `array_position(array['deployment', 'chain', 'account', 'wallet'], s.scope)`
  return db('pause as s')
    .join('audit_event as e', 'e.id', 's.begun_by')
    .joinRaw(`join operation op on op.id = ? and ${concerns}`, [id])
    .whereNull('s.until')
    .orderByRaw(widest)
    .first('s.scope', 's.subject', 's.since', 'e.actor as by', 'e.why')
}

/** Milliseconds for which an operation was paused or frozen. */
export async function readPausedMs(db: Db, { id }: { id: string }): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(PAUSED_MS, { id })
  return rows[0]?.ms ?? 0
}

const PAUSED_MS = `
with spans as (
  select tstzrange(greatest(s.since, op.created_at), coalesce(s.until, now.at)) as span
  from operation op, pause s, (select clock_timestamp() as at) as now
  where op.id = :id and ${concerns} and coalesce(s.until, now.at) > greatest(s.since, op.created_at)
)
select coalesce(sum(extract(epoch from upper(one) - lower(one)) * 1000), 0)::double precision as ms
from (select unnest(range_agg(span)) as one from spans) as merged`

/**
 * The wallet of the account with this id, if it can be used.
 *
 * @throws {ServiceError} WALLET_NOT_FOUND, the same for unknown and foreign wallets. FORBIDDEN while it or its account is
 *   frozen, because its intents would only wait.
 */
export async function getUsableWallet(
  db: Db,
  accountId: string,
  id: string,
): Promise<StoredWallet> {
  const { frozen, ...wallet } = await usable.get(db, accountId, id)
  if (frozen === null) return wallet
  const message = `This ${frozen} is frozen. Ask the operator of this service to unfreeze it.`
  throw new ServiceError('FORBIDDEN', message)
}

const usable = createLookup<StoredWallet & { frozen: PauseScope | null }>(
  'wallet and its pause',
  `select w.*, (select s.scope from pause s where ${freezes('scope.account', 'call.key')} limit 1) as frozen
    from (${walletById.select}) w`,
  walletById.notFound,
)
