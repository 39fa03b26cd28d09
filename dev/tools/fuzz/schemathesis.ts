import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createWalletRequest } from '../../../api/schemas/examples/resources.js'

/** A service: its host, without `/v1`, and a key of an account with a high rate limit. */
export type FuzzTarget = { url: string; key: string }

const VERSION = '4.32.5'
const INSTALL_MS = 300_000
/** Test money arrives within a few seconds. */
const FUNDED_MS = 60_000
const exclusions = new URL('schemathesis.toml', import.meta.url)

/** @returns Path of the program, in a virtual environment that is installed from PyPI once. */
export async function installSchemathesis(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const venv = path.join(cache, 'steward', `schemathesis-${VERSION}`)
  const program = path.join(venv, 'bin', 'schemathesis')
  if (existsSync(program)) return program
  console.log(`Installing schemathesis ${VERSION} (once).`)
  const run = promisify(execFile)
  const options = { signal: AbortSignal.timeout(INSTALL_MS) }
  const pip = ['-m', 'pip', 'install', '--quiet', `schemathesis==${VERSION}`]
  try {
    await run('python3', ['-m', 'venv', venv], options)
    await run(path.join(venv, 'bin', 'python'), pip, options)
  } catch (error) {
    await rm(venv, { recursive: true, force: true })
    throw error
  }
  return program
}

type Run = { folder: string; seed: string; examples: number; workers: number }

/**
 * Writes the settings of a run, with a wallet that has test money and an intent of it as test data.
 *
 * @returns Arguments of the program, which writes its report to `folder`/run.ndjson. The key is passed by `env`, so that
 *   it is not visible in the command line.
 */
export async function prepareRun(target: FuzzTarget, { folder, seed, examples, workers }: Run) {
  await mkdir(folder, { recursive: true })
  const settings = path.join(folder, 'schemathesis.toml')
  const data = toTestData(await makeResources(target))
  const generation = `[generation]\nmax-examples = ${examples}\n`
  await writeFile(settings, [generation, data, await readFile(exclusions, 'utf8')].join('\n'))
  const report = path.join(folder, 'run.ndjson')
  const args = [
    ...['--config-file', settings, 'run', `${target.url}/openapi.json`, '--seed', seed],
    ...['--workers', String(workers), '--request-timeout', '20', '--continue-on-failure'],
    ...['--report', 'ndjson', '--report-ndjson-path', report, '--no-color'],
    ...['--generation-database', 'none', '--suppress-health-check', 'all'],
  ]
  return { args, report, env: { ...process.env, STEWARD_KEY: target.key } }
}

type Resources = { walletId: string; intentId: string }

/** Half of the generated ids exist, so that not all requests end in 404. */
const toTestData = ({ walletId, intentId }: Resources) => `
[dictionaries.wallets]
values = ["${walletId}"]

[dictionaries.intents]
values = ["${intentId}"]

[parameters]
"body.walletId" = { dictionary = "wallets", probability = 0.5 }
"path.walletId" = { dictionary = "wallets", probability = 0.5 }
"path.intentId" = { dictionary = "intents", probability = 0.5 }
`

async function makeResources(target: FuzzTarget): Promise<Resources> {
  const { body: wallet } = await post(target, '/v1/wallets', createWalletRequest)
  const walletId = String(wallet.id)
  await post(target, '/v1/demo/fund', { walletId })
  const until = Date.now() + FUNDED_MS
  for (;;) {
    const intent = await post(target, '/v1/intents', { walletId, action: 'lend', amount: 0.5 })
    if (intent.status === 201) return { walletId, intentId: String(intent.body.id) }
    if (Date.now() > until) throw new Error(`Intent not created: ${JSON.stringify(intent.body)}`)
    await sleep(1_000)
  }
}

async function post({ url, key }: FuzzTarget, to: string, body: unknown) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + to, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
