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

/** `confirmed`, `finalized`: the last block that is confirmed and final once the next ones are booked. */
export async function readConcern(
  db: Db,
  chainId: number,
  { confirmed, finalized }: { confirmed: bigint; finalized: bigint | undefined },
): Promise<Concern> {
  const values = [chainId, confirmed.toString(), finalized?.toString()]
  const [row] = await runPrepared<Concern>(db, { name: 'concern', text: CONCERN }, values)
  if (!row) throw new Error('What concerns a chain is always told.')
  return row
}

const CONCERN = `
select array(select chain_key from operation where chain_id = $1
    and state in ('queued', 'deferred', 'signed') limit ${MANY_OPEN}) as "openKeys",
  exists (select from chain_tx where chain_id = $1 and state = 'open') as "isAwaited",
  exists (select from operation where chain_id = $1 and state = 'mined' and block_number <= $2)
    or exists (select from operation where chain_id = $1 and state = 'confirmed' and block_number <= $3)
    or exists (select from chain_tx where chain_id = $1 and state = 'mined' and block_number <= $3) as "isDue"`

/**
 * Books blocks that concern no row, by one statement, as their headers and the booked block that moves on tell.
 * `finalized` ends the watch below it if this very block is a kept header.
 */
export async function bookEmpty(
  db: Db,
  chainId: number,
  {
    from,
    blocks,
    finalized,
  }: { from: BlockId; blocks: BlockToBook[]; finalized: BlockId | undefined },
): Promise<void> {
  const headers = blocks.map(({ number, hash }) => ({ number: number.toString(), hash }))
  const to = blocks.at(-1)
  const values = [
    ...[chainId, from.hash, to?.number.toString(), to?.hash],
    ...[finalized?.number.toString(), finalized?.hash, JSON.stringify(headers)],
    to?.baseFeeWei?.toString(),
  ]
  const [row] = await runPrepared<{ moved: number }>(db, { name: 'empty', text: EMPTY }, values)
  if (row?.moved !== 1) throw new Error('The booked block has moved.')
}

const EMPTY = `
with fresh as (
  select number, hash from json_to_recordset($7) as fresh(number bigint, hash text)
), final as (
  select cast($5 as bigint) as number where exists (
    select from block_header where chain_id = $1 and number = $5 and hash = $6
    union all select from fresh where number = $5 and hash = $6)
), moved as (
  update chain set booked_block = $3, booked_hash = $4, booked_at = clock_timestamp(), base_fee_wei = $8,
    finalized_block = coalesce((select number from final), finalized_block)
  where id = $1 and booked_hash = $2 returning id
), kept as (
  insert into block_header (chain_id, number, hash)
  select moved.id, fresh.number, fresh.hash from moved, fresh
  where fresh.number >= coalesce((select number from final), fresh.number)
), gone as (
  delete from block_header h using moved, final where h.chain_id = moved.id and h.number < final.number
)
select count(*)::int as moved from moved`
