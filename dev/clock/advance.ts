import { randomBytes } from 'node:crypto'
import { connectAsLeader, isLedElsewhere, type Db } from '../../db/client/connect.js'
import { SETTLED } from '../../domain/intent/waitReason.js'
import { chainNames, type ChainName } from '../../evm/registry.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { moveAccruals, readAccruals, type Accrual } from '../devnet/accrual.js'
import { UserError } from '../terminal.js'
import { ageRows } from './agedRows.js'
import type { Facts } from '../context.js'
import type { Devnet } from '../state/openDevnet.js'

const DAY_SECONDS = 86_400

/**
 * An advance whose rows are older already. Its accruals and signals follow, and its row is deleted then. `mark`: what a
 * market holds once it has moved.
 */
type Unfinished = { days: number; mark: string; accruals: Record<ChainName, Accrual[]> }

const TABLE = 'steward_dev.advance'

/**
 * Lets days pass on the devnet. No clock changes: the past moves back instead. Stored times become older, lending
 * markets owe the interest of that time, and waiting intents are checked again. Blocks, ids and Temporal's timers keep
 * their times.
 *
 * @returns The days that have passed. After an interrupted advance, the call finishes that one instead.
 * @throws Error when a lending market cannot be read. Nothing is written then, on any chain or in the database.
 * @throws {UserError} while another advance runs.
 */
export async function advanceClock(devnet: Devnet, days: number): Promise<Advanced> {
  const db = connectAsLeader(devnet.facts.databaseUrl, 'advance')
  try {
    return await advance(db, devnet, days)
  } catch (error) {
    if (!isLedElsewhere(error)) throw error
    throw new UserError('Another advance runs. Wait until it has finished.', { cause: error })
  } finally {
    await db.destroy()
  }
}

type Advanced = { days: number; wasInterrupted: boolean }

async function advance(db: Db, { facts, contracts }: Devnet, days: number): Promise<Advanced> {
  await createTable(db)
  const interrupted = await db(TABLE).first<Unfinished | undefined>('days', 'mark', 'accruals')
  if (interrupted) {
    await finish(db, facts, interrupted)
    return { days: interrupted.days, wasInterrupted: true }
  }
  const reads = chainNames.map(async (name) => {
    return [name, await readAccruals(facts.rpcUrls[name], contracts[name])]
  })
  const accruals = Object.fromEntries(await Promise.all(reads)) as Unfinished['accruals']
  const unfinished = { days, mark: `0x${randomBytes(32).toString('hex')}`, accruals }
  await ageRows(db, days, (trx) => trx(TABLE).insert(unfinished))
  await finish(db, facts, unfinished)
  return { days, wasInterrupted: false }
}

async function createTable(db: Db): Promise<void> {
  await db.raw('create schema if not exists steward_dev')
  await db.raw(
    `create table if not exists ${TABLE} (
       only_row boolean primary key default true,
       days integer not null, mark text not null, accruals json not null)`,
  )
}

/** A repeat changes nothing. */
async function finish(db: Db, facts: Facts, { days, mark, accruals }: Unfinished): Promise<void> {
  const move = { seconds: days * DAY_SECONDS, mark }
  for (const name of chainNames) await moveAccruals(facts.rpcUrls[name], accruals[name], move)
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
