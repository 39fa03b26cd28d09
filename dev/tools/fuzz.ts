import { spawn } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createWalletRequest, walletAnswer } from '../../api/schemas/examples/resources.js'
import { completedIntent } from '../../api/schemas/examples/executedIntent.js'
import { createAccount, createApiKey } from '../../db/accounts/accounts.js'
import { connect } from '../../db/client/connect.js'

const USAGE = `Usage: npm run fuzz -- [--examples 3600] [--seed 1] [--requests 20000] [--workers 2]

Sends valid and invalid generated requests to a running service and checks every response against its OpenAPI
document. Uses the service of npm start, or that of STEWARD_URL (host, without /v1) with the key STEWARD_KEY.
Requires Python 3.10 or later. The first run installs schemathesis from PyPI.

  --examples  generated requests per endpoint    --seed     repeats a run
  --requests  minimum number of requests         --workers  concurrent requests`

const SCHEMATHESIS = '4.32.5'
const checks = [
  ...['not_a_server_error', 'content_type_conformance', 'status_code_conformance'],
  ...['response_schema_conformance', 'response_headers_conformance', 'negative_data_rejection'],
]

/** Each call starts a transfer of test money, so fewer examples keep the load of the chains low. */
const FUNDING_EXAMPLES = 100
const INSTALL_MS = 300_000
const RUN_MS = 3_600_000
/** Test money arrives within a few seconds. */
const FUNDED_MS = 60_000

type Target = { url: string; key: string }
type Json = Record<string, unknown>

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
const folder = path.join(home, 'fuzz')
const reports = path.join(folder, 'reports')

async function main(): Promise<void> {
  if (values.help) {
    console.log(USAGE)
    return
  }
  const target = await findTarget()
  await mkdir(folder, { recursive: true })
  const program = await installSchemathesis()
  await writeDocument(target)
  await writeSettings()
  await rm(reports, { recursive: true, force: true })
  console.log(`Seed ${values.seed}: repeats this run with --seed ${values.seed}.`)
  const started = Date.now()
  const exitCode = await runSchemathesis(program, target)
  await judge(exitCode, Math.round((Date.now() - started) / 1000))
}

/** The service of the environment, otherwise that of `npm start`, with a new account of a high rate limit. */
async function findTarget(): Promise<Target> {
  const { STEWARD_URL: url, STEWARD_KEY: key } = process.env
  if (url && key) return { url, key }
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

/** @returns Path of the program, in its own virtual environment. */
async function installSchemathesis(): Promise<string> {
  const venv = path.join(folder, `venv-${SCHEMATHESIS}`)
  const program = path.join(venv, 'bin', 'schemathesis')
  if (existsSync(program)) return program
  console.log(`Installing schemathesis ${SCHEMATHESIS} (once).`)
  const signal = AbortSignal.timeout(INSTALL_MS)
  const pip = ['-m', 'pip', 'install', '--quiet', `schemathesis==${SCHEMATHESIS}`]
  await succeed('python3', ['-m', 'venv', venv], signal)
  await succeed(path.join(venv, 'bin', 'python'), pip, signal).catch(async (error: unknown) => {
    await rm(venv, { recursive: true, force: true })
    throw error
  })
  return program
}

async function succeed(command: string, args: string[], signal: AbortSignal): Promise<void> {
  const code = await run(command, args, { signal })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`)
}

async function run(
  command: string,
  args: string[],
  options: { signal: AbortSignal; env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', ...options })
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('exit', (code) => {
      resolve(code ?? 1)
    })
  })
}

/**
 * Writes the published document with full paths, because schemathesis supports only one server. Replaces the ids of its
 * examples by an existing wallet and intent, so that not all examples end in 404.
 */
async function writeDocument(target: Target): Promise<void> {
  const published = await (await fetch(`${target.url}/openapi.json`)).text()
  const { walletId, intentId } = await makeResources(target)
  const text = published
    .replaceAll(walletAnswer.id, walletId)
    .replaceAll(completedIntent.id, intentId)
  const document = JSON.parse(text) as { paths: Record<string, { servers?: unknown }> }
  const paths = Object.entries(document.paths).map(([name, item]) => {
    const { servers, ...rest } = item
    return [servers ? name : `/v1${name}`, rest]
  })
  const flat = { ...document, servers: [{ url: '/' }], paths: Object.fromEntries(paths) as Json }
  await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(flat))
}

/** Creates a wallet with test money and an intent of it. */
async function makeResources(target: Target): Promise<{ walletId: string; intentId: string }> {
  const wallet = await post(target, '/v1/wallets', createWalletRequest)
  const walletId = String(wallet.body.id)
  await post(target, '/v1/demo/fund', { walletId })
  const until = Date.now() + FUNDED_MS
  for (;;) {
    const intent = await post(target, '/v1/intents', { walletId, action: 'lend', amount: 0.5 })
    if (intent.status === 201) return { walletId, intentId: String(intent.body.id) }
    if (Date.now() > until) throw new Error(`Intent not created: ${JSON.stringify(intent.body)}`)
    await sleep(1_000)
  }
}

async function post({ url, key }: Target, to: string, body: unknown) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + to, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Json }
}

/** Passes the key by an environment variable, so that it is not visible in the command line. */
async function writeSettings(): Promise<void> {
  const settings = `[headers]
Authorization = "Bearer \${STEWARD_KEY}"

[generation]
max-examples = ${Number(values.examples)}

[[operations]]
include-path = "/v1/demo/fund"
generation = { max-examples = ${Math.min(FUNDING_EXAMPLES, Number(values.examples))} }
`
  await writeFile(path.join(folder, 'schemathesis.toml'), settings)
}

async function runSchemathesis(program: string, { url, key }: Target): Promise<number> {
  const args = [
    ...['--config-file', path.join(folder, 'schemathesis.toml')],
    ...['run', path.join(folder, 'openapi.json'), '--url', url, '--seed', values.seed],
    ...['--checks', checks.join(','), '--phases', 'examples,coverage,fuzzing'],
    ...['--workers', values.workers, '--request-timeout', '20', '--continue-on-failure'],
    ...['--report', 'ndjson', '--report-ndjson-path', path.join(reports, 'run.ndjson')],
    ...['--generation-database', 'none', '--suppress-health-check', 'all'],
  ]
  const env = { ...process.env, STEWARD_KEY: key }
  return run(program, args, { env, cwd: folder, signal: AbortSignal.timeout(RUN_MS) })
}

/** A line of the report: a scenario with its requests and responses. */
type ReportEvent = {
  ScenarioFinished?: {
    recorder: { interactions: Record<string, { response?: { status_code: number } | null }> }
  }
}

/** Counts requests by the status of their response. The exit code of schemathesis states whether responses conform. */
async function judge(exitCode: number, seconds: number): Promise<void> {
  const counted = new Map<string, number>()
  const lines = createInterface({ input: createReadStream(path.join(reports, 'run.ndjson')) })
  for await (const line of lines) {
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
