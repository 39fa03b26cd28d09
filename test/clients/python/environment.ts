import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const packageFolder = fileURLToPath(new URL('../../../clients/python', import.meta.url))
const requirements = path.join(packageFolder, 'tests', 'requirements.txt')
/** Several times what any run takes. */
const LIMIT_MS = 300_000
const OUTPUT_MS = 2_000
/** The oldest that the package supports. */
const OLDEST = [3, 10] as const

/**
 * A Python with everything that the tests of the Python SDK need, in an environment of its own: made from the package
 * index once for each list of requirements. Undefined where there is no Python or no index; where a run must count, that
 * fails instead.
 */
export async function findPython(): Promise<string | undefined> {
  try {
    return await makeEnvironment()
  } catch (error) {
    if (process.env.CI === 'true') throw error
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    console.warn(`Skipped: no Python with pip and a package index to test the SDK with. ${why}`)
    return undefined
  }
}

async function makeEnvironment(): Promise<string> {
  const base = process.env.PYTHON ?? 'python3'
  const version = await readVersion(base)
  const hash = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const folder = path.join(cache, 'steward', `python-${hash.digest('hex').slice(0, 16)}`)
  const python = path.join('bin', 'python')
  if (existsSync(path.join(folder, python))) return path.join(folder, python)
  // Built beside its place and moved there whole: a run that is stopped leaves nothing half made.
  const draft = `${folder}.${process.pid}`
  try {
    await mkdir(path.dirname(folder), { recursive: true })
    // Without pip of its own: Debian has that in another package.
    await run(base, ['-m', 'venv', '--without-pip', draft])
    const pip = ['-m', 'pip', '--python', path.join(draft, python), '--quiet']
    await run(base, [...pip, 'install', '--no-deps', '--requirement', requirements])
    await rename(draft, folder).catch((error: unknown) => {
      // Another run was faster.
      if (!existsSync(path.join(folder, python))) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return path.join(folder, python)
}

async function readVersion(base: string): Promise<string> {
  const { stdout } = await run(base, ['-c', 'import sys; print(*sys.version_info[:3])'])
  const [major = 0, minor = 0] = stdout.trim().split(' ').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new Error(`${base} is older than Python ${OLDEST.join('.')}.`)
  }
  return stdout.trim()
}

export type Outcome = { code: number; output: string }

/**
 * Runs a program to its end, with its output. A hanging program prints where it hangs. Nothing is left
 * in the tree.
 */
export async function runPython(
  python: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const child = spawn(python, args, {
    cwd: packageFolder,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const limit = setTimeout(() => child.kill('SIGABRT'), LIMIT_MS)
  const closed = new Promise((resolve) => child.once('close', resolve))
  const exit = once(child, 'exit').finally(() => clearTimeout(limit))
  const [status] = (await exit) as [number | null]
  // What it has started may outlive it and keep its output open.
  await Promise.race([closed, sleep(OUTPUT_MS, undefined, { ref: false })])
  return { code: status ?? 1, output }
}
