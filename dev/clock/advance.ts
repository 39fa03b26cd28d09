import { connect } from '../../db/client/connect.js'
import { SETTLED } from '../../domain/intent/waitReason.js'
import { chainNames } from '../../evm/registry.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { moveAccruals, readAccruals } from '../devnet/accrual.js'
import { ageRows } from './agedRows.js'
import type { Facts } from '../context.js'
import type { Devnet } from '../state/openDevnet.js'

const DAY_SECONDS = 86_400

/**
 * Lets days pass on the devnet. No clock changes: the past moves back instead. Stored times become older, lending
 * markets owe the interest of that time, and waiting intents are checked again. Blocks, ids and Temporal's timers keep
 * their times.
 *
 * @throws Error when a lending market cannot be read. Nothing is written then, on any chain or in the database.
 */
export async function advanceClock({ facts, contracts }: Devnet, days: number): Promise<void> {
  await Promise.all(chainNames.map((name) => readAccruals(facts.rpcUrls[name], contracts[name])))
  await ageRows(facts.databaseUrl, days)
  await Promise.all(
    chainNames.map((name) =>
      moveAccruals(facts.rpcUrls[name], contracts[name], days * DAY_SECONDS),
    ),
  )
  await wakeWaiting(facts)
}

/** Signals the workflows that wait for an outcome or an attestation. Each then checks whether it is late. */
async function wakeWaiting({ databaseUrl, temporalAddress, temporalNamespace }: Facts) {
  const db = connect(databaseUrl, 1)
  const client = connectTemporal(temporalAddress, temporalNamespace)
  try {
    const waiting = await db('awaited').pluck<string[]>('workflow_id')
    const signals = waiting.map((id) => client.workflow.getHandle(id).signal(SETTLED))
    // A workflow that has ended since needs no signal.
    await Promise.allSettled(signals)
  } finally {
    await client.connection.close()
    await db.destroy()
  }
}
