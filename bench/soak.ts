import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createHome, removeHome, startStack, type Stack } from '../test/e2e/stack.js'
import { dismiss, fundAll, gatherCrowd, openWallets, runIntents, tell } from './crowd.js'
import { readMemory } from './usage.js'

/**
 * Lends one round of all wallets after the other, for minutes, and tells each minute how much memory each process has.
 * None may grow: the last third may have no more than the first one had at most, and some.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    wallets: { type: 'string', default: '200' },
    connections: { type: 'string', default: '32' },
  },
})
const MINUTES = Number(values.minutes)
const WALLETS = Number(values.wallets)
const CONNECTIONS = Number(values.connections)
/** Of the 1 USDC that each wallet has; interest brings none of it back. */
const AMOUNT = 0.002
const MINUTE_MS = 60_000
/** MB that a process may have after a thousand intents. */
const most: Record<string, number> = { worker: 300, api: 200, signer: 120, lanes: 150 }
/** Measurements of a heap vary by so much. */
const MOST_GROWTH = 1.1

type Memory = Record<string, number>

const home = await createHome()
const stack = await startStack(home)
try {
  await soak(stack)
} finally {
  await stack.stop()
  removeHome(home)
}

async function soak(stack: Stack): Promise<void> {
  const crowd = await gatherCrowd(stack, CONNECTIONS)
  const wallets = await openWallets(crowd, WALLETS)
  tell('fundings', await fundAll(crowd, wallets))
  const minutes: Memory[] = []
  let [lends, failed] = [0, 0]
  const begun = performance.now()
  for (let next = begun + MINUTE_MS; minutes.length < MINUTES;) {
    const run = await runIntents(crowd, wallets, { kind: 'lend', amount: AMOUNT })
    lends += WALLETS
    failed += run.failed
    if (performance.now() < next) continue
    next += MINUTE_MS
    const memory = readMemory(crowd.pids)
    minutes.push(memory)
    const told = Object.keys(most).map((name) => `${name} ${memory[name]?.toFixed(0)}`)
    const perSecond = lends / ((performance.now() - begun) / 1_000)
    console.log(
      `minute ${minutes.length}: ${lends} lends, ${perSecond.toFixed(1)} a second, failed ${failed}, ` +
        `MB: ${told.join(', ')}, postgres ${memory.postgres?.toFixed(0)}, temporal ${memory.temporal?.toFixed(0)}`,
    )
  }
  await dismiss(crowd)
  judge(minutes, failed)
}

function judge(minutes: Memory[], failed: number): void {
  const third = Math.ceil(minutes.length / 3)
  const highest = (part: Memory[], name: string) => Math.max(...part.map((one) => one[name] ?? 0))
  const rows = Object.entries(most).map(([name, goal]) => {
    const [first, last] = [minutes.slice(0, third), minutes.slice(-third)].map((part) =>
      highest(part, name),
    ) as [number, number]
    const [growth, atEnd] = [last / first, minutes.at(-1)?.[name] ?? 0]
    if (growth > MOST_GROWTH || atEnd > goal) process.exitCode = 1
    return [name, { MB: Math.round(atEnd), goal, growth: Number(growth.toFixed(2)) }] as const
  })
  console.table(Object.fromEntries(rows))
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
  if (failed > 0) process.exitCode = 1
}
