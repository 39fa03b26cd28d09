import { calls, send } from './calls.js'
import { statements, type BenchStatement } from './statements.js'
import type { Filled } from './fill.js'
import type { Db } from '../../db/client/connect.js'
import type { GrowthWorld } from './worlds.js'

/** One measurement: its duration and its result. `n` counts, so that each call uses another row. */
export type GrowthProbe = {
  name: string
  run(world: GrowthWorld, n: number): Promise<{ ms: number; came: string }>
}

export const probes: readonly GrowthProbe[] = [
  ...calls.map((call) => ({
    name: call.name,
    async run({ port, filled }: GrowthWorld, n: number) {
      const { ms, status } = await send(port, call, { filled, n })
      return { ms, came: String(status) }
    },
  })),
  ...statements.map((statement) => ({
    name: statement.name,
    run: ({ as, filled }: GrowthWorld) => timeRolledBack(as[statement.role], filled, statement),
  })),
]

class Undone extends Error {}

async function timeRolledBack(db: Db, filled: Filled, { begin, run }: BenchStatement) {
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
