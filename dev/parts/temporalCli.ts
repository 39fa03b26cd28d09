import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { releaseLock, takeLock } from '../state/lock.js'
import { rootFolder } from '../state/state.js'
import { drawLive, eraseLive, Explained, formatSeconds, say, sign } from '../terminal.js'

const run = promisify(execFile)

/** `source` tells the user where the program comes from. */
export type TemporalCli = { file: string; source: string }

type Options = {
  env?: NodeJS.ProcessEnv
  /** Folder of the Go module that pins the version. */
  moduleFolder?: string
  /** Base of the official download. */
  downloadUrl?: string
  signal?: AbortSignal
}

/** Without a network the name does not even resolve; with one the first byte is there within a second. */
const connectTimeoutMs = 4_000
const downloadTimeoutMs = 90_000
/** A first start from a cold disk loads 140 MB. */
const versionTimeoutMs = 15_000
const progressIntervalMs = 15_000

/**
 * Finds a program that can run a Temporal server: on PATH, in the cache, from the official download, or built
 * from the pinned Go module, in this order. The last two fill the cache.
 *
 * @throws {Explained} when there is none and none can be had.
 */
export async function findTemporalCli(options: Options = {}): Promise<TemporalCli> {
  const { env = process.env, moduleFolder = path.join(rootFolder, 'tools/temporal') } = options
  const onPath = await findOnPath(env)
  if (onPath) return { file: onPath, source: `on PATH (${onPath})` }

  const cached = cachedFile(env, moduleFolder)
  if (fs.existsSync(cached)) return { file: cached, source: 'cached' }
  fs.mkdirSync(path.dirname(cached), { recursive: true })
  return holdingLock(`${cached}.lock`, async () => {
    if (fs.existsSync(cached)) return { file: cached, source: 'cached' }
    const version = pinnedVersion(moduleFolder)
    const { downloadUrl = 'https://temporal.download/cli/archive', signal } = options
    const failure = await tryToFill(cached, (draft) => download(downloadUrl, version, draft))
    if (!failure) return { file: cached, source: `downloaded ${version} from temporal.download` }
    say(`  Temporal CLI: not on PATH, not cached, no download (${failure})`)
    const buildFailure = await tryToFill(cached, (draft) => build(moduleFolder, draft, env, signal))
    if (!buildFailure) return { file: cached, source: `built ${version} from tools/temporal` }
    throw new Explained(
      `There is no Temporal server, and none could be built (${buildFailure}).\n` +
        'Install the CLI (https://docs.temporal.io/cli), or Go 1.21 or newer to have it built, ' +
        'or set TEMPORAL_ADDRESS to a running server.',
    )
  })
}

/** Where the cached program is: another pin is another file. */
export function cachedFile(env: NodeJS.ProcessEnv, moduleFolder: string): string {
  const hash = createHash('sha256')
  for (const name of ['go.mod', 'go.sum']) {
    hash.update(fs.readFileSync(path.join(moduleFolder, name)))
  }
  const cache = env.XDG_CACHE_HOME ?? path.join(env.HOME ?? homedir(), '.cache')
  const name = `temporal-${hash.digest('hex').slice(0, 16)}`
  return path.join(cache, 'steward', name, 'temporal')
}

async function findOnPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, 'temporal')
    if (fs.existsSync(file) && (await speaksVersion(file))) return file
  }
  return undefined
}

async function speaksVersion(file: string): Promise<boolean> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: versionTimeoutMs })
    return stdout.startsWith('temporal version')
  } catch {
    return false
  }
}

function pinnedVersion(moduleFolder: string): string {
  const text = fs.readFileSync(path.join(moduleFolder, 'go.mod'), 'utf8')
  return /github\.com\/temporalio\/cli (v\S+)/.exec(text)?.[1] ?? 'latest'
}

/**
 * Puts a program into the cache under a second name first, and only if it runs.
 *
 * @returns Why it failed; undefined when it is there.
 */
async function tryToFill(
  cached: string,
  make: (draft: string) => Promise<void>,
): Promise<string | undefined> {
  const draft = `${cached}.${process.pid}`
  try {
    await make(draft)
    fs.chmodSync(draft, 0o755)
    if (!(await speaksVersion(draft))) return 'it does not run here'
    fs.renameSync(draft, cached)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

/** @see https://docs.temporal.io/cli#install: the archive's address takes a version in place of `latest`. */
async function download(downloadUrl: string, version: string, draft: string): Promise<void> {
  const platform = process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const url = `${downloadUrl}/${version}?platform=${platform}&arch=${arch}`
  const timeout = new AbortController()
  const connecting = setTimeout(() => timeout.abort(), connectTimeoutMs)
  const response = await fetch(url, {
    signal: AbortSignal.any([timeout.signal, AbortSignal.timeout(downloadTimeoutMs)]),
  }).catch((error: Error) => {
    const cause = error.cause as { code?: string } | undefined
    throw new Error(cause?.code ?? error.message, { cause: error })
  })
  clearTimeout(connecting)
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
  const archive = `${draft}.tar.gz`
  const unpacked = `${draft}.unpacked`
  try {
    const body = Readable.fromWeb(response.body)
    await pipeline(body, fs.createWriteStream(archive))
    fs.mkdirSync(unpacked)
    await run('tar', ['-xzf', archive, '-C', unpacked])
    fs.renameSync(path.join(unpacked, 'temporal'), draft)
  } finally {
    for (const file of [archive, unpacked]) fs.rmSync(file, { recursive: true, force: true })
  }
}

async function build(
  moduleFolder: string,
  draft: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<void> {
  const flags = ['-trimpath', '-ldflags', '-s -w', '-o', draft]
  const go = spawn('go', ['build', ...flags, 'github.com/temporalio/cli/cmd/temporal'], {
    cwd: moduleFolder,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  })
  let lastWords = ''
  go.stderr.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-2_000)
  })
  const ended = new Promise<void>((resolve, reject) => {
    go.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(error.code === 'ENOENT' ? 'Go is not installed' : error.message)),
    )
    go.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(lastWords.trim().split('\n').at(-1) ?? 'go build')),
    )
  })
  const endProgress = showProgress('Building the Temporal server, once (about 5 min on 2 cores)')
  await ended.finally(endProgress)
}

/** Shows how long a task has been running: redrawn on a terminal, a line now and then elsewhere. */
function showProgress(task: string): () => void {
  const begun = Date.now()
  const elapsed = () => formatSeconds(Date.now() - begun)
  say(`  ${task} …`)
  const redraw = setInterval(() => drawLive(`  ${sign.busy()} ${task} ${elapsed()}`), 100)
  const repeat = setInterval(() => {
    if (!process.stdout.isTTY) say(`  ${task} … ${elapsed()}`)
  }, progressIntervalMs)
  return () => {
    clearInterval(redraw)
    clearInterval(repeat)
    eraseLive()
  }
}

/** Runs `work` in one process at a time. A lock of a dead process counts for nothing. */
async function holdingLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  let isTold = false
  for (let holder = takeLock(lock); holder; holder = takeLock(lock)) {
    if (!isTold) say(`  Waiting for the Temporal server that process ${holder.pid} fetches …`)
    isTold = true
    await sleep(250)
  }
  try {
    return await work()
  } finally {
    releaseLock(lock)
  }
}
