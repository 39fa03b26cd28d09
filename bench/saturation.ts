import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { openBaseline, type BaselineResult } from './baseline/baseline.js'
import { quantile } from './callers.js'
import {
  dismiss,
  fundAll,
  gatherCrowd,
  lendAll,
  openWallets,
  untilPlanning,
  type Crowd,
  type Run,
} from './crowd.js'
import { addUp, readMemory, sum } from './usage.js'
import { pageOption } from './page.js'
import { printVerdict } from './verdict.js'

/**
 * Lends from many wallets at the same moment on a fresh stack, and compares lends per second with the baseline
 * (`baseline.ts`) on the same machine. Rounds alternate, so that a slow moment of the machine affects both.
 * `--checkout DIR` starts the stack of another checkout, to compare two versions.
 */
const { values } = parseArgs({
  options: {
    wallets: { type: 'string', default: '200' },
    connections: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '3' },
    checkout: { type: 'string', default: '.' },
    ...pageOption,
  },
})
const WALLETS = Number(values.wallets)
const ROUNDS = Number(values.rounds)
/** Whole USDC of each lend. A wallet has 1 USDC for all rounds. */
const AMOUNT = Math.floor(900 / ROUNDS) / 1_000
const services = ['api', 'worker', 'relayer', 'signer']
/** Time for a resumed service to replace the connections that timed out. */
const SETTLE_MS = 5_000
const GOAL = 0.5

type SaturationRound = { run: Run; memory: Record<string, number>; baseline: BaselineResult }

const { createHome, removeHome, startStack } = await importStack(values.checkout)
const home = await createHome()
// A node does not respond for up to 0.3 s while it writes its state file. The baseline's node writes none.
const stack = await startStack(home, { DEVNET_STATE_SECONDS: '86400' })
try {
  const crowd = await gatherCrowd(stack, Number(values.connections))
  await measure(crowd).finally(() => dismiss(crowd))
} catch (error) {
  console.error(stack.output())
  throw error
} finally {
  await stack.stop()
  removeHome(home)
}

/** Imports `startStack` of the given checkout, which starts the services of that checkout. */
async function importStack(checkout: string) {
  const file = join(resolve(checkout), 'test/e2e/stack.ts')
  return (await import(pathToFileURL(file).href)) as typeof import('../test/e2e/stack.js')
}

async function measure(crowd: Crowd): Promise<void> {
  const wallets = await openWallets(crowd, WALLETS)
  const funding = await fundAll(crowd, wallets)
  const baseline = await openBaseline(crowd.facts)
  const rounds: SaturationRound[] = []
  try {
    for (let n = 1; n <= ROUNDS; n++) {
      await untilPlanning(crowd, wallets[0] ?? '')
      const mark = await baseline.mark()
      const run = await lendAll(crowd, wallets, AMOUNT)
      const memory = readMemory(crowd.pids)
      const beside = await whileStopped(crowd, () => baseline.run(run.posts, mark))
      rounds.push({ run, memory, baseline: beside })
      const [own, other] = [run, beside].map(({ seconds }) => (WALLETS / seconds).toFixed(1))
      console.log(`round ${n}: ${own} lends a second, baseline ${other}`)
    }
  } finally {
    await baseline.stop()
  }
  report(rounds, funding)
}

/** The baseline has the machine for itself. */
async function whileStopped<T>(crowd: Crowd, work: () => Promise<T>): Promise<T> {
  crowd.callers.hangUp()
  const signal = (name: NodeJS.Signals) => {
    for (const service of services) process.kill(crowd.pids[service] ?? NaN, name)
  }
  signal('SIGSTOP')
  try {
    return await work()
  } finally {
    signal('SIGCONT')
    await sleep(SETTLE_MS)
  }
}

function report(rounds: SaturationRound[], funding: Run): void {
  const [runs, baselines] = [rounds.map(({ run }) => run), rounds.map((round) => round.baseline)]
  const count = WALLETS * rounds.length
  const rate = (all: { seconds: number }[]) => count / sum(all.map(({ seconds }) => seconds))
  const posts = runs.flatMap((run) => run.posts.map(({ tookMs }) => tookMs))
  const later = runs.flatMap((run) => run.posts.filter(({ body }) => !body.executionPlan))
  const last = rounds.at(-1)
  const memory = services.map((name) => ({
    ...{ metric: `MB of ${name}`, steward: last?.memory[name] ?? NaN },
    ...(name === 'worker' && { baseline: last?.baseline.workerMb ?? NaN }),
  }))
  printVerdict(
    [
      {
        ...{ metric: 'lends a second', steward: rate(runs), baseline: rate(baselines) },
        atLeast: GOAL,
      },
      {
        ...{ metric: 'CPU ms a lend', steward: (serviceSeconds(runs) * 1_000) / count },
        baseline: (sum(baselines.map(({ cpuSeconds }) => cpuSeconds)) * 1_000) / count,
      },
      { metric: 'POST p50, ms', steward: quantile(posts, 0.5) },
      { metric: 'POST p99, ms', steward: quantile(posts, 0.99) },
      { metric: 'planned later, %', steward: (100 * later.length) / count },
      { metric: 'lends a transaction', steward: count / sum(baselines.map(({ sent }) => sent)) },
      { metric: 'fundings a second', steward: WALLETS / funding.seconds },
      ...memory,
    ],
    {
      faults: runs.some(({ failed }) => failed > 0) ? ['lends failed'] : [],
      write: values.write,
    },
  )
}

/** CPU without the clients and the devnet's block production. */
function serviceSeconds(runs: Run[]): number {
  const used = Object.entries(addUp(runs.map(({ cpu }) => cpu)))
  return sum(used.filter(([name]) => !['bench', 'devnet'].includes(name)).map(([, s]) => s))
}
