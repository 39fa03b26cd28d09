import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runStorm, type ChaosReport } from './run.js'

const USAGE = `Usage: npm run chaos -- [--minutes 5] [--seed N] [--wallets 64] [--report file.json]

Starts a whole stack with its own chains and clients that lend, withdraw and bridge. Meanwhile it kills processes
repeatedly, crashes Postgres and Temporal, reorganises the chains, and injects faults into their endpoints and the
attestation service. Then it checks the money. Exits with 0 when no money or intent was lost, doubled, stuck or
reported wrongly. The same seed repeats the same storm.`

const options = {
  minutes: { type: 'string', default: '5' },
  seed: { type: 'string', default: randomBytes(4).toString('hex') },
  wallets: { type: 'string', default: '64' },
  report: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

async function main(): Promise<number> {
  const { values } = parseArgs({ options })
  if (values.help) return print(USAGE, 0)
  const [minutes, wallets] = [Number(values.minutes), Number(values.wallets)]
  if (!(minutes > 0 && wallets >= 1)) return print('--minutes and --wallets must be above 0.', 1)
  const started = Date.now()
  const report = await runStorm({
    seed: values.seed,
    stormMs: minutes * 60_000,
    leastIntents: 0,
    calmMs: 60_000,
    wallets: Math.floor(wallets),
    killEveryMs: 2_600,
    outageEveryMs: 20_000,
    say: (line) =>
      console.log(`${((Date.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${line}`),
  })
  if (values.report) writeFileSync(values.report, `${JSON.stringify(report, null, 2)}\n`)
  return print(toText(report), isGood(report) ? 0 : 1)
}

const isGood = ({ verdict }: ChaosReport) =>
  Object.values(verdict).every((found) => found.length === 0)

function print(text: string, code: number): number {
  console.log(text)
  return code
}

function toText({ seed, intents, kills, shakes, faults, verdict }: ChaosReport): string {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  const deep = shakes.reorgs.filter((depth) => depth > 1).length
  const sum = (counts: Record<string, number>) =>
    Object.values(counts).reduce((all, count) => all + count, 0)
  const lines = [
    `seed      ${seed}`,
    `intents   ${intents.ordered}: ${list(intents.byStatus)}`,
    `kills     ${sum(kills)}: ${list(kills)}`,
    `reorgs    ${shakes.reorgs.length}, ${deep} of them deeper than the confirmations`,
    `chains    drops ${shakes.drops}, spikes ${shakes.spikes}, endpoints away ${shakes.outages}`,
    `faults    ${sum(faults)}: ${list(faults)}`,
    '',
  ]
  const findings = Object.entries(verdict).flatMap(([name, found]) => [
    `${name.padEnd(24)}${found.length}`,
    ...found.slice(0, 10).map((one) => `    ${one}`),
  ])
  return [...lines, ...findings].join('\n')
}

process.exitCode = await main()
