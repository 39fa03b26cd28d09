import type { Db } from '../../../db/client/connect.js'
import type { RowPage } from './rows.js'

/** Age in ms from which an open row is reported. */
export type Bounds = {
  /** Operations that are signed and not mined. */
  signedMs: number
  /** Refills from the treasury. */
  refillMs: number
  /** Open intents. */
  intentMs: number
  /** Reservations of ended intents. Those of open intents are reported with the intent. */
  reservationMs: number
}

/** A row that is open for longer than its bound. `state` and `waits` are clauses. `chainId` is null for intents. */
export type Aged = {
  /** Kind and id, the page cursor. */
  key: string
  kind: 'intent' | 'operation' | 'refill' | 'reservation'
  id: string
  chainId: bigint | null
  state: string
  since: Date
  waits: string
}

/** A page of overdue rows, by key. */
export async function pageAged(db: Db, bounds: Bounds, { after, limit }: RowPage): Promise<Aged[]> {
  const page = `${AGED} where aged.key > :after order by aged.key limit :limit`
  const { rows } = await db.raw<{ rows: Aged[] }>(page, { ...bounds, after, limit })
  return rows
}

/** The rows among the given keys that are still overdue. */
export async function readAged(db: Db, bounds: Bounds, keys: string[]): Promise<Aged[]> {
  const some = `${AGED} where aged.key = any (:keys)`
  const { rows } = await db.raw<{ rows: Aged[] }>(some, { ...bounds, keys })
  return rows
}

/** What the next step of an intent `i` waits for. */
const NEXT = `coalesce(
  case when i.status = 'pending' then 'its plan' end,
  (select format('%s %s, which is %s', o.kind, o.sequence, o.state)
      || coalesce(': ' || coalesce(o.message, o.code), '')
    from operation o
    where o.intent_id = i.id and o.state in ('queued', 'deferred', 'signed', 'mined')
    order by o.sequence limit 1),
  (select 'the attestation of its burn'
    from operation o join burn b on b.operation_id = o.id
    where o.intent_id = i.id and o.success and b.event_nonce is null limit 1),
  'its next step, which is not ordered')`

const isOlder = (at: string, bound: keyof Bounds) =>
  `${at} < clock_timestamp() - :${bound} * interval '1 millisecond'`

const AGED = `
select * from (select x.kind || ' ' || x.id as key, x.* from (
  select 'intent' as kind, i.id, null::bigint as "chainId", i.status as state,
    i.created_at as since, ${NEXT} as waits
  from intent i
  where i.status not in ('completed', 'failed') and ${isOlder('i.created_at', 'intentMs')}
  union all
  select 'operation', o.id, o.chain_id, format('%s %s of %s is signed', o.kind, o.sequence, o.intent_id),
    s.created_at,
    case when t.id is null then 'a sender that includes it'
      else format('nonce %s of sender %s', t.nonce, t.sender) end || coalesce(': ' || o.message, '')
  from operation o join signature s on s.operation_id = o.id left join chain_tx t on t.id = o.tx_id
  where o.state = 'signed' and ${isOlder('s.created_at', 'signedMs')}
  union all
  select 'refill', l.sender, l.chain_id, 'open', t.opened_at,
    format('nonce %s of the treasury %s', t.nonce, t.sender)
  from sender l join chain_tx t on t.id = l.refill_tx
  where t.state = 'open' and ${isOlder('t.opened_at', 'refillMs')}
  union all
  select 'reservation', format('%s of %s', r.sequence, i.id), r.chain_id, 'held', i.created_at,
    case when i.error ->> 'code' = 'BRIDGE_TIMEOUT' then 'money that is in the bridge'
      else format('the outcome of a step of the %s intent to be final', i.status) end
  from reservation r join intent i on i.id = r.intent_id
  where r.spent_block is null and r.released_at is null and i.status in ('completed', 'failed')
    and ${isOlder('i.created_at', 'reservationMs')}
) x) as aged`
