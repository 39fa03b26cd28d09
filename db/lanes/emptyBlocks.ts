import { runPrepared } from '../connection/prepared.js'
import type { BlockId, BlockToBook } from './booking.js'
import type { Db } from '../connection/connect.js'

/** So many open operations are many: they are not looked for one by one. */
export const MANY_OPEN = 9

/** What rows of a chain have to do with its next blocks. */
export type Concern = {
  /** Keys of operations whose outcome may be in them: all of them, or the first ones of many. */
  openKeys: string[]
  /** A transaction of ours may be in them. */
  isAwaited: boolean
  /** Something that is mined becomes confirmed or final by them. */
  isDue: boolean
}

/** Blocks that follow the booked one. `finalized` ends the watch below it if this very block is a kept header. */
type Following = { from: BlockId; blocks: BlockToBook[]; finalized: BlockId | undefined }

/**
 * Books blocks by one statement if they concern no row, as most do: their headers, and the booked block that moves on.
 *
 * @param following - `confirmed`: the last block that is confirmed once they are booked, as `finalized` is final.
 * @returns Undefined when they are booked. Otherwise nothing is, and this is what rows have to do with them.
 */
export async function bookUnlessConcerned(
  db: Db,
  chainId: number,
  { confirmed, ...following }: Following & { confirmed: bigint },
): Promise<Concern | undefined> {
  const values = [...valuesOf(chainId, following), confirmed.toString()]
  const statement = { name: 'unless concerned', text: UNLESS_CONCERNED }
  const [row] = await runPrepared<Concern & { moved: number }>(db, statement, values)
  if (row?.moved === 1) return undefined
  if (!row || !isConcerned(row)) throw moved()
  const { openKeys, isAwaited, isDue } = row
  return { openKeys, isAwaited, isDue }
}

/** Books blocks that have turned out to concern no row. */
export async function bookEmpty(db: Db, chainId: number, following: Following): Promise<void> {
  const values = valuesOf(chainId, following)
  const [row] = await runPrepared<{ moved: number }>(db, { name: 'empty', text: EMPTY }, values)
  if (row?.moved !== 1) throw moved()
}

const isConcerned = ({ openKeys, isAwaited, isDue }: Concern): boolean =>
  openKeys.length > 0 || isAwaited || isDue

const moved = () => new Error('The booked block has moved.')

function valuesOf(chainId: number, { from, blocks, finalized }: Following): unknown[] {
  const headers = blocks.map(({ number, hash }) => ({ number: number.toString(), hash }))
  const to = blocks.at(-1)
  return [
    ...[chainId, from.hash, to?.number.toString(), to?.hash],
    ...[finalized?.number.toString(), finalized?.hash, JSON.stringify(headers)],
    to?.baseFeeWei?.toString(),
  ]
}

/** Parts of a statement that move the booked block on, where a condition holds. */
const moving = (condition = 'true') => `
fresh as (
  select number, hash from json_to_recordset($7) as fresh(number bigint, hash text)
), final as (
  select cast($5 as bigint) as number where exists (
    select from block_header where chain_id = $1 and number = $5 and hash = $6
    union all select from fresh where number = $5 and hash = $6)
), moved as (
  update chain set booked_block = $3, booked_hash = $4, booked_at = clock_timestamp(), base_fee_wei = $8,
    finalized_block = coalesce((select number from final), finalized_block)
  where id = $1 and booked_hash = $2 and ${condition} returning id
), kept as (
  insert into block_header (chain_id, number, hash)
  select moved.id, fresh.number, fresh.hash from moved, fresh
  where fresh.number >= coalesce((select number from final), fresh.number)
), gone as (
  delete from block_header h using moved, final where h.chain_id = moved.id and h.number < final.number
)`

const EMPTY = `with ${moving()} select count(*)::int as moved from moved`

const UNLESS_CONCERNED = `
with concern as materialized (
  select array(select chain_key from operation where chain_id = $1
      and state in ('queued', 'deferred', 'signed') limit ${MANY_OPEN}) as keys,
    exists (select from chain_tx where chain_id = $1 and state = 'open') as is_awaited,
    exists (select from operation where chain_id = $1 and state = 'mined' and block_number <= $9)
      or exists (select from operation where chain_id = $1 and state = 'confirmed' and block_number <= $5)
      or exists (select from chain_tx where chain_id = $1 and state = 'mined' and block_number <= $5) as is_due
), ${moving(`exists (select from concern where keys = '{}' and not is_awaited and not is_due)`)}
select keys as "openKeys", is_awaited as "isAwaited", is_due as "isDue",
  (select count(*)::int from moved) as moved
from concern`
