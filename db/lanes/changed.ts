import { runPrepared } from '../connection/prepared.js'
import { concerns } from './stops.js'
import type { AwaitedWhat } from './awaited.js'
import type { Db } from '../connection/connect.js'

const changedStatement = {
  name: 'changed operations',
  // Lists that the planner does not know, or it would plan anew for each call.
  text: `
    select op.id, 'outcome' as what from operation op
    where op.id = any ((select $1)::text[]) and (op.state not in ('queued', 'signed', 'mined')
      or op.tx_id is null and exists (select from stop s where s.until is null and ${concerns}))
    union all
    select b.operation_id, 'attestation' from burn b
    where b.operation_id = any ((select $2)::text[]) and b.event_nonce is not null`,
}

/** Of the given operations, those that are over, put off or stopped by an operator; of the burns, the attested ones. */
export async function findChanged(
  db: Db,
  { outcomes, attestations }: { outcomes: string[]; attestations: string[] },
): Promise<{ id: string; what: AwaitedWhat }[]> {
  return runPrepared(db, changedStatement, [outcomes, attestations])
}
