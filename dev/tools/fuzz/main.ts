import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { connect } from '../../../db/client/connect.js'
import { installSchemathesis, prepareRun, type FuzzTarget } from './schemathesis.js'

const USAGE = `Usage: npm run fuzz -- [--examples 3600] [--seed 1] [--requests 20000] [--workers 2]

Sends valid and invalid generated requests to a running service and checks every response against its OpenAPI
document, with all default checks of schemathesis. dev/tools/fuzz/schemathesis.toml lists the exclusions.
Uses the service of npm start, or that of STEWARD_URL (host, without /v1) with the key STEWARD_KEY.
Requires Python 3.10 or later. The first run installs schemathesis from PyPI.

  --examples  generated requests per endpoint    --seed     repeats a run
  --requests  minimum number of requests         --workers  concurrent requests`

/** Ends a run whose service hangs. Longer tests are several runs, each with its own seed. */
const RUN_MS = 3_600_000

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '3600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    requests: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
})

const home = path.resolve(process.env.STEWARD_HOME ?? '.steward')

async function main(): Promise<void> {
  if (values.help) {
    console.log(USAGE)
    return
  }
  const target = await findTarget()
  const program = await installSchemathesis()
  const { seed, examples, workers } = values
  const { args, env, report } = await prepareRun(target, {
    ...{ folder: path.join(home, 'fuzz'), seed },
    ...{ examples: Number(examples), workers: Number(workers) },
  })
  console.log(`Seed ${seed}: repeats this run with --seed ${seed}.`)
  const started = Date.now()
  const exitCode = await run(program, args, env)
  await judge(report, exitCode, Math.round((Date.now() - started) / 1000))
}

/** The service of the environment, otherwise that of `npm start`, with a new account of a high rate limit. */
async function findTarget(): Promise<FuzzTarget> {
  const { STEWARD_URL: url, STEWARD_KEY: key } = process.env
  if (url && key) return { url, key }
  if (url || key) {
    const missing = url ? 'STEWARD_KEY' : 'STEWARD_URL'
    throw new Error(`${missing} is missing. Set both STEWARD_URL and STEWARD_KEY, or neither.`)
  }
  const facts = await readFile(path.join(home, 'dev.json'), 'utf8').catch(() => {
    throw new Error('No service is running. Run npm start, or set STEWARD_URL and STEWARD_KEY.')
  })
  const { hostUrl, databaseUrl } = JSON.parse(facts) as { hostUrl: string; databaseUrl: string }
  const db = connect(databaseUrl, 1)
  try {
    const { id } = await createAccount(db, { name: 'fuzz', plan: 'enterprise' })
    await db('account').where({ id }).update({ rpm: 1_000_000 })
    return { url: hostUrl, key: await createApiKey(db, id, { name: 'fuzz' }) }
  } finally {
    await db.destroy()
  }
}

async function run(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, {
    ...{ stdio: 'inherit', env, cwd: path.join(home, 'fuzz'), signal: AbortSignal.timeout(RUN_MS) },
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', (code) => {
      resolve(code ?? 1)
    })
  })
}

/** A line of the report: a scenario with its requests and responses. */
type ReportEvent = {
  ScenarioFinished?: {
    recorder: { interactions: Record<string, { response?: { status_code: number } | null }> }
  }
}

/** Counts requests by the status of their response. The exit code of schemathesis states whether responses conform. */
async function judge(report: string, exitCode: number, seconds: number): Promise<void> {
  const counted = new Map<string, number>()
  for await (const line of createInterface({ input: createReadStream(report) })) {
    const { ScenarioFinished: finished } = JSON.parse(line) as ReportEvent
    for (const { response } of Object.values(finished?.recorder.interactions ?? {})) {
      const status = String(response?.status_code ?? 'no answer')
      counted.set(status, (counted.get(status) ?? 0) + 1)
    }
  }
  const total = [...counted.values()].reduce((sum, count) => sum + count, 0)
  const statuses = [...counted].sort().map(([status, count]) => `${status}: ${count}`)
  console.log(`\n${total} requests in ${seconds} s (${statuses.join(', ')}).`)
  const wrong = [...counted.keys()].filter((status) => !/^[234]/.test(status) || status === '429')
  if (exitCode !== 0) fail('schemathesis reported failures, see above')
  if (wrong.length > 0) fail(`unexpected statuses ${wrong.join(', ')}`)
  if (total < Number(values.requests)) fail(`fewer than ${values.requests} requests were sent`)
  if (!process.exitCode) console.log('All responses conform.')
}

function fail(reason: string): void {
  console.error(`Failed: ${reason}.`)
  process.exitCode = 1
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
