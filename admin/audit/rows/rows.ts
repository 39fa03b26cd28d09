import type { Db } from '../../../db/client/connect.js'
import type { StepPlan, IntentFailure } from '../../../domain/intent/intent.js'
import type { Effect } from '../../../domain/intent/results.js'
import { EFFECTS, toEffect, type EffectRow } from '../../../db/intents/stepEffects.js'

/** A page by id: at most `limit` rows after `after`. */
export type RowPage = { after: string; limit: number }

const rowsOf = async <Row>(db: Db, sql: string, bindings: object = {}): Promise<Row[]> =>
  (await db.raw<{ rows: Row[] }>(sql, bindings as never)).rows

export type OddAccount = { id: string; balance: string; ledgerSum: string }

/** Accounts whose credits differ from the sum of their ledger. */
export const findOddAccounts = (db: Db) =>
  rowsOf<OddAccount>(
    db,
    `select a.id, (a.granted + a.purchased)::text as balance, coalesce(sum(l.delta), 0)::text as "ledgerSum"
     from account a left join ledger l on l.account_id = a.id
     group by a.id having a.granted + a.purchased <> coalesce(sum(l.delta), 0) order by a.id`,
  )

export type OddEvent = { intentId: string; type: string; before: string | null; status: string }

/**
 * Events of the given intents that match no allowed transition. `before` is the status after the previous event. When
 * earlier events of an intent were deleted, the state before its first event is unknown and not checked.
 */
export const findOddEvents = (db: Db, ids: string[]) =>
  rowsOf<OddEvent>(
    db,
    `with status_event as (
       select e.intent_id, e.id, e.type, e.data ->> 'status' as status,
         lag(e.data ->> 'status') over (partition by e.intent_id order by e.id) as before
       from intent_event e
       where e.intent_id = any (:ids) and e.type in
         ('created', 'planned', 'executing', 'completed', 'failed', 'cancelled', 'reopened'))
     select t.intent_id as "intentId", t.type, t.before, t.status from status_event t
     where t.type <> 'created' and not (t.type = 'planned' and t.before = 'planning')
       and not exists (select from intent_edge g
         where g.event = t.type and g.from_status = t.before and g.to_status = t.status)
       and not (t.before is null and exists (select from intent i, event_floor f
         where i.id = t.intent_id and i.created_at < f.before))
     order by t.id`,
    { ids },
  )

export type AuditedIntent = {
  id: string
  status: string
  /** The last reported status. The current one when its event was deleted. Null when none was reported. */
  reported: string | null
  holds: boolean
  retried: boolean
  plan: StepPlan | null
  error: IntentFailure | null
  effects: EffectRow[] | null
}

/** A page of intents with the state that their rows support. */
export async function pageIntents(db: Db, { after, limit }: RowPage) {
  const rows = await rowsOf<AuditedIntent>(
    db,
    `select i.id, i.status, end_holds(i) as holds, i.plan, i.error, (${EFFECTS}) as effects,
       exists (select from intent r where r.retry_of = i.id) as retried,
       coalesce((select e.data ->> 'status' from intent_event e
        where e.intent_id = i.id and e.data ->> 'status' is not null
        order by e.id desc limit 1),
        (select i.status from event_floor f where coalesce(i.updated_at, i.created_at) < f.before)) as reported
     from intent i where i.id > :after order by i.id limit :limit`,
    { after, limit },
  )
  return rows.map((row): Omit<AuditedIntent, 'effects'> & { effects: Effect[] } => ({
    ...row,
    effects: (row.effects ?? []).map(toEffect),
  }))
}

export type OddMint = { intentId: string; sequence: number; burned: string; minted: string }

/** Mints of more money than was burned. */
export const findOddMints = (db: Db) =>
  rowsOf<OddMint>(
    db,
    `select m.intent_id as "intentId", m.sequence, b.units::text as burned, m.units::text as minted
     from operation m join operation b
       on b.intent_id = m.intent_id and b.sequence = m.sequence and b.kind = 'bridge'
     where m.kind = 'mint' and m.success and b.success and m.units > b.units order by 1`,
  )

/** Reserved units of a wallet's token at the indexed block. */
export type ReservedUnits = {
  walletId: string
  wallet: string
  token: string
  units: string
  block: string
}

/** Reservations of each wallet's tokens on a chain, as they count at the indexed block. */
export const pageReserved = (db: Db, chainId: number, { after, limit }: RowPage) =>
  rowsOf<ReservedUnits>(
    db,
    `select w.id as "walletId", w.address as wallet, r.token, sum(r.units)::text as units,
       min(c.indexed_hash) as block
     from reservation r join wallet w on w.id = r.wallet_id join chain c on c.id = r.chain_id
     where r.chain_id = :chainId and r.wallet_id > :after and r.from_block <= c.indexed_block
       and case when r.spent_block is null then r.released_at is null
           else r.spent_block > c.indexed_block end
     group by w.id, w.address, r.token order by w.id limit :limit`,
    { chainId, after, limit },
  )

/** Intents and fundings that have been open for longer than a workflow needs to start, by id. */
export const pageOpen = (db: Db, olderThanMs: number, { after, limit }: RowPage) =>
  rowsOf<{ id: string; status: string }>(
    db,
    `select x.id, x.status from (
       select id, status from intent
       where status not in ('completed', 'failed')
         and created_at < clock_timestamp() - :olderThanMs * interval '1 millisecond'
       union all
       select f.id, 'not paid' from funding f
       where f.completed_at is null
         and f.created_at < clock_timestamp() - :olderThanMs * interval '1 millisecond'
         and not exists (select from operation o where o.intent_id = f.id and
           (o.state in ('rejected', 'cancelled') or o.state in ('confirmed', 'final') and not o.success))
     ) x where x.id > :after order by x.id limit :limit`,
    { olderThanMs, after, limit },
  )

/** The given workflow ids that have rows, and whether these have work left. */
export const readKnown = (db: Db, ids: string[]) =>
  rowsOf<{ id: string; open: boolean }>(
    db,
    `select id, status not in ('completed', 'failed') or error ->> 'code' = 'BRIDGE_TIMEOUT' as open
     from intent where id = any (:ids)
     union all select id, completed_at is null from funding where id = any (:ids)`,
    { ids },
  )

export type AuditedChain = {
  indexedBlock: bigint
  indexedHash: string
  finalizedBlock: bigint
  isSilent: boolean
}

/** The indexed state of a chain. `isSilent`: no block was indexed for `silentMs`. */
export async function readAuditedChain(
  db: Db,
  chainId: number,
  silentMs: number,
): Promise<AuditedChain | undefined> {
  const [row] = await rowsOf<AuditedChain>(
    db,
    `select indexed_block as "indexedBlock", indexed_hash as "indexedHash",
       finalized_block as "finalizedBlock",
       indexed_at < clock_timestamp() - :silentMs * interval '1 millisecond' as "isSilent"
     from chain where id = :chainId`,
    { chainId, silentMs },
  )
  return row
}

export type AuditedTx = {
  id: bigint
  sender: string
  nonce: bigint
  state: string
  blockHash: string | null
  hashes: string[]
}

/** A page of a chain's transactions with all their hashes, by id. */
export const pageTransactions = (db: Db, chainId: number, { after, limit }: RowPage) =>
  rowsOf<AuditedTx>(
    db,
    `select t.id, t.sender, t.nonce, t.state, t.block_hash as "blockHash",
       array(select s.hash from chain_tx_send s where s.tx_id = t.id order by s.n) as hashes
     from chain_tx t where t.chain_id = :chainId and t.id > :after::bigint
     order by t.id limit :limit`,
    { chainId, after: after || '0', limit },
  )

export type AuditedSender = { sender: string; nextNonce: bigint; gaps: string[] }

/** Senders of a chain, with the first nonces below their next nonce that have no row. */
export const readAuditedSenders = (db: Db, chainId: number) =>
  rowsOf<AuditedSender>(
    db,
    `select l.sender, l.next_nonce as "nextNonce", array(
       select n from generate_series(0, l.next_nonce - 1) n
       where not exists (select from chain_tx t
         where t.chain_id = l.chain_id and t.sender = l.sender and t.nonce = n)
       order by n limit 5)::text[] as gaps
     from sender l where l.chain_id = :chainId order by l.sender`,
    { chainId },
  )
