import { calls, send } from './calls.js'
import { statements, type Statement } from './statements.js'
import type { Filled } from './fill.js'
import type { Db } from '../../db/client/connect.js'
import type { World } from './worlds.js'

/** One thing that is measured: how long it took, and what came of it. `n` counts, so that each is about another row. */
export type Probe = {
  name: string
  run(world: World, n: number): Promise<{ ms: number; came: string }>
}

export const probes: readonly Probe[] = [
  ...calls.map((call) => ({
    name: call.name,
    async run({ port, filled }: World, n: number) {
      const { ms, status } = await send(port, call, { filled, n })
      return { ms, came: String(status) }
    },
  })),
  ...statements.map((statement) => ({
    name: statement.name,
    run: ({ as, filled }: World) => timeRolledBack(as[statement.role], filled, statement),
  })),
]

class Undone extends Error {}

async function timeRolledBack(db: Db, filled: Filled, { begin, run }: Statement) {
  let ms = NaN
  const undone = db.transaction(async (trx) => {
    if (begin) await trx.raw(begin)
    const started = performance.now()
    await run(trx, filled)
    ms = performance.now() - started
    throw new Undone()
  })
  await undone.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return { ms, came: '' }
}
