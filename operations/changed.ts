import { runPrepared } from '../db/client/prepared.js'
import { concerns } from '../db/pauses.js'
import type { AwaitedWhat } from './awaited.js'
import type { Db } from '../db/client/connect.js'

const changedStatement = {
  name: 'changed operations',
  // Arrays in subqueries, so that the generic plan is reused.
  text: `
    select op.id, 'outcome' as what from operation op
    where op.id = any ((select $1)::text[]) and (op.state not in ('queued', 'signed', 'mined')
      or op.tx_id is null and exists (select from pause s where s.until is null and ${concerns}))
    union all
    select b.operation_id, 'attestation' from burn b
    where b.operation_id = any ((select $2)::text[]) and b.event_nonce is not null`,
}

/** The given operations that have ended, are deferred or paused, and the burns among them that are attested. */
export async function findChanged(
  db: Db,
  { outcomes, attestations }: { outcomes: string[]; attestations: string[] },
): Promise<{ id: string; what: AwaitedWhat }[]> {
  return runPrepared(db, changedStatement, [outcomes, attestations])
}
