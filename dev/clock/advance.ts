import { connect, type Db } from '../../db/client/connect.js'
import { SETTLED } from '../../domain/intent/waitReason.js'
import { chainNames, type ChainName } from '../../evm/registry.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { planAccruals, writeStorage, type StorageWrite } from '../devnet/accrual.js'
import { ageRows } from './agedRows.js'
import type { Facts } from '../context.js'
import type { Devnet } from '../state/openDevnet.js'

const DAY_SECONDS = 86_400

/** An advance whose rows are older already. Its storage writes and signals follow, and its row is deleted then. */
type Unfinished = { days: number; writes: Record<ChainName, StorageWrite[]> }

const TABLE = 'steward_dev.unfinished_advance'

/**
 * Lets days pass on the devnet. No clock changes: the past moves back instead. Stored times become older, lending
 * markets owe the interest of that time, and waiting intents are checked again. Blocks, ids and Temporal's timers keep
 * their times.
 *
 * @returns The days that have passed. After an interrupted advance, the call finishes that one instead.
 * @throws Error when a lending market cannot be read. Nothing is written then, on any chain or in the database.
 */
export async function advanceClock(
  { facts, contracts }: Devnet,
  days: number,
): Promise<{ days: number; wasInterrupted: boolean }> {
  const db = connect(facts.databaseUrl, 1)
  try {
    await createTable(db)
    const interrupted = await findUnfinished(db)
    if (interrupted) {
      await finish(db, facts, interrupted)
      return { days: interrupted.days, wasInterrupted: true }
    }
    const plans = chainNames.map(async (name) => {
      const writes = await planAccruals(facts.rpcUrls[name], contracts[name], days * DAY_SECONDS)
      return [name, writes]
    })
    const writes = Object.fromEntries(await Promise.all(plans)) as Unfinished['writes']
    await ageRows(db, days, (trx) => trx(TABLE).insert({ days, writes }))
    await finish(db, facts, { days, writes })
    return { days, wasInterrupted: false }
  } finally {
    await db.destroy()
  }
}

async function createTable(db: Db): Promise<void> {
  await db.raw('create schema if not exists steward_dev')
  await db.raw(
    `create table if not exists ${TABLE} (
       only_row boolean primary key default true, days integer not null, writes json not null)`,
  )
}

const findUnfinished = (db: Db) => db(TABLE).first<Unfinished | undefined>('days', 'writes')

/** A repeat changes nothing. */
async function finish(db: Db, facts: Facts, { writes }: Unfinished): Promise<void> {
  await Promise.all(chainNames.map((name) => writeStorage(facts.rpcUrls[name], writes[name])))
  await wakeWaiting(db, facts)
  await db(TABLE).delete()
}

/** Signals the workflows that wait for an outcome or an attestation. Each then checks whether it is late. */
async function wakeWaiting(db: Db, { temporalAddress, temporalNamespace }: Facts) {
  const client = connectTemporal(temporalAddress, temporalNamespace)
  try {
    const waiting = await db('awaited').pluck<string[]>('workflow_id')
    const signals = waiting.map((id) => client.workflow.getHandle(id).signal(SETTLED))
    // A workflow that has ended since needs no signal.
    await Promise.allSettled(signals)
  } finally {
    await client.connection.close()
  }
}
