import { ServiceError } from '../../domain/errors.js'
import { recordAct, type Order } from '../auditEvents.js'
import { lockName, shareName } from '../connection/locks.js'
import { createLookup } from '../connection/scope.js'
import { walletById, type Wallet } from '../tenants/wallets.js'
import type { Db } from '../connection/connect.js'
import type { Operation } from './operations.js'
import type { StopScope } from '../../domain/waiting.js'

export type { StopScope }

/** What is stopped: `subject` is the id of an account or a wallet, or the number of a chain; empty for the deployment. */
export type StopTarget = { scope: StopScope; subject: string }

/** Signers share it while they store, so that nothing is signed any more once a stop is there. */
const STOPS = 'stops'

/**
 * What makes a stop `s` one that concerns an operation `op`. Nothing that is about a wallet or its account keeps
 * burned money from coming out.
 */
export const concerns = `(s.scope = 'deployment'
      or s.scope = 'chain' and s.subject = op.chain_id::text
      or op.kind <> 'mint' and (s.scope = 'account' and s.subject = op.account_id
        or s.scope = 'wallet' and s.subject = op.wallet_id))`

/** No operator has stopped the operation `op`. */
export const isNotStopped = `not exists (select from stop s where s.until is null and ${concerns})`

/** True while an operator has paused the chain or everything: nothing is signed there, whatever it is for. */
export async function isPaused(db: Db, chainId: number): Promise<boolean> {
  const pause = await db('stop')
    .whereNull('until')
    .whereRaw(`(scope = 'deployment' or scope = 'chain' and subject = ?)`, [chainId.toString()])
    .first<object | undefined>('id')
  return pause !== undefined
}

/** Waits for a stop that is just being made, and has the next one wait until the transaction ends. */
export const holdStops = (trx: Db): Promise<void> => shareName(trx, STOPS)

/**
 * Stops what concerns the subject. When it returns nothing of that is signed any more; what was sent before goes on
 * being watched.
 *
 * @throws {ServiceError} NOT_FOUND for an account or a wallet that is not there; INVALID_REQUEST for one that is
 *   stopped already.
 */
export async function stopWork(db: Db, target: StopTarget, order: Order): Promise<void> {
  await assertThere(db, target)
  await db.transaction(async (trx) => {
    await lockName(trx, STOPS)
    const open = await trx('stop').where(target).whereNull('until').select<object[]>('id')
    if (open.length > 0) {
      throw new ServiceError('INVALID_REQUEST', `${nameOf(target)} is stopped already.`)
    }
    const begun_by = await recordAct(trx, actOf(target, 0), order)
    await trx('stop').insert({ ...target, begun_by })
  })
}

/**
 * Lets what concerns the subject go on, and tells the signers at once.
 *
 * @throws {ServiceError} INVALID_REQUEST for one that is not stopped.
 */
export async function resumeWork(db: Db, target: StopTarget, order: Order): Promise<void> {
  await db.transaction(async (trx) => {
    await lockName(trx, STOPS)
    const ended_by = await recordAct(trx, actOf(target, 1), order)
    const until = trx.raw('greatest(clock_timestamp(), since)')
    const ended = await trx('stop').where(target).whereNull('until').update({ until, ended_by })
    if (ended !== 1) throw new ServiceError('INVALID_REQUEST', `${nameOf(target)} is not stopped.`)
    const wake = JSON.stringify({ id: '', state: 'queued' })
    await trx.raw(`select pg_notify('operation', ?)`, [wake])
  })
}

/** What stopping and letting go are called. */
const verbs: Record<StopScope, [stop: string, resume: string]> = {
  account: ['freeze', 'unfreeze'],
  wallet: ['freeze', 'unfreeze'],
  chain: ['pause', 'resume'],
  deployment: ['pause', 'resume'],
}

const actOf = ({ scope, subject }: StopTarget, verb: 0 | 1) => ({
  action: `${scope} ${verbs[scope][verb]}`,
  subject,
})

const nameOf = ({ scope, subject }: StopTarget) => `The ${[scope, subject].join(' ').trim()}`

async function assertThere(db: Db, { scope, subject }: StopTarget): Promise<void> {
  if (scope !== 'account' && scope !== 'wallet') return
  const row = await db(scope).where({ id: subject }).first<object | undefined>('id')
  if (!row) throw new ServiceError('NOT_FOUND', `There is no ${scope} ${subject}.`)
}

/** A stop that is open. */
export type Stop = StopTarget & { since: Date }

/** What concerns everybody: stops of chains and of the deployment. */
export async function readPauses(db: Db): Promise<Stop[]> {
  return db('stop')
    .whereNull('until')
    .whereIn('scope', ['chain', 'deployment'])
    .orderBy('since')
    .select<Stop[]>('scope', 'subject', 'since')
}

/** A stop of a chain or of the deployment, in a clause. Who did so and why is for operators. */
export const describePause = ({ scope, since }: Stop) =>
  `the ${scope} is paused by an operator since ${since.toISOString()}`

/** Why nothing is signed on a chain: the widest of the pauses that concern it, in a clause. */
export function whyPaused(pauses: Stop[], chainId: number): string | undefined {
  const whole = pauses.find(({ scope }) => scope === 'deployment')
  const own = pauses.find(({ scope, subject }) => scope === 'chain' && subject === String(chainId))
  const pause = whole ?? own
  return pause && describePause(pause)
}

/** All that is stopped, with who did so and why, the oldest first. */
export async function readStops(db: Db): Promise<(Stop & Order)[]> {
  return db('stop as s')
    .join('audit_event as e', 'e.id', 's.begun_by')
    .whereNull('s.until')
    .orderBy('s.since')
    .select('s.scope', 's.subject', 's.since', 'e.actor as by', 'e.why')
}

/** Why an operation is not signed though it could be: the widest stop of several, undefined when there is none. */
export async function findStop(db: Db, { id }: Operation): Promise<(Stop & Order) | undefined> {
  const widest = `array_position(array['deployment', 'chain', 'account', 'wallet'], s.scope)`
  return db('stop as s')
    .join('audit_event as e', 'e.id', 's.begun_by')
    .joinRaw(`join operation op on op.id = ? and ${concerns}`, [id])
    .whereNull('s.until')
    .orderByRaw(widest)
    .first('s.scope', 's.subject', 's.since', 'e.actor as by', 'e.why')
}

/** Milliseconds of an operation's life in which it was stopped, by whatever. */
export async function readStoppedMs(db: Db, { id }: Operation): Promise<number> {
  const { rows } = await db.raw<{ rows: { ms: number }[] }>(STOPPED_MS, { id })
  return rows[0]?.ms ?? 0
}

const STOPPED_MS = `
with spans as (
  select tstzrange(greatest(s.since, op.created_at), coalesce(s.until, now.at)) as span
  from operation op, stop s, (select clock_timestamp() as at) as now
  where op.id = :id and ${concerns} and coalesce(s.until, now.at) > greatest(s.since, op.created_at)
)
select coalesce(sum(extract(epoch from upper(one) - lower(one)) * 1000), 0)::double precision as ms
from (select unnest(range_agg(span)) as one from spans) as merged`

/**
 * The wallet of the account with this id, and no stop of either: what is asked of one that is stopped would only wait.
 *
 * @throws {ServiceError} WALLET_NOT_FOUND, the same for unknown and foreign ones; FORBIDDEN while it or its account is
 *   frozen.
 */
export async function getUsableWallet(db: Db, accountId: string, id: string): Promise<Wallet> {
  const { frozen, ...wallet } = await usable.get(db, accountId, id)
  if (frozen === null) return wallet
  const message = `This ${frozen} is frozen. Ask the operator of this service to unfreeze it.`
  throw new ServiceError('FORBIDDEN', message)
}

const usable = createLookup<Wallet & { frozen: StopScope | null }>(
  'wallet and its stop',
  `select w.*, (select s.scope from stop s where s.until is null
      and (s.scope = 'account' and s.subject = scope.account or s.scope = 'wallet' and s.subject = call.key)
      limit 1) as frozen
    from (${walletById.select}) w`,
  walletById.notFound,
)
