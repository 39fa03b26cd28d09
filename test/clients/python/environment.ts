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
/** Several times the longest run. */
const LIMIT_MS = 300_000
const OUTPUT_MS = 2_000
/** The oldest supported Python version. */
const OLDEST = [3, 10] as const

/**
 * Returns a Python with the test dependencies of the Python SDK. Each list of requirements has one virtual environment,
 * installed from the package index once. Returns undefined without Python or the index; in CI this is an error instead.
 */
export async function findPython(): Promise<string | undefined> {
  try {
    return await makeEnvironment()
  } catch (error) {
    if (process.env.CI === 'true') throw error
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    console.warn(`Skipped: Python with pip and a package index not found. ${why}`)
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
  // Built in a temporary folder and renamed, so that an interrupted run leaves no partial environment.
  const draft = `${folder}.${process.pid}`
  try {
    await mkdir(path.dirname(folder), { recursive: true })
    // Debian has ensurepip in a separate package, so the base pip installs into the environment.
    await run(base, ['-m', 'venv', '--without-pip', draft])
    const pip = ['-m', 'pip', '--python', path.join(draft, python), '--quiet']
    await run(base, [...pip, 'install', '--no-deps', '--requirement', requirements])
    await rename(draft, folder).catch((error: unknown) => {
      // Another run has created it meanwhile.
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

export type PythonResult = { code: number; output: string }

/**
 * Runs a program and returns its exit code and output. A hanging program is aborted and prints its stack. Writes no
 * bytecode into the tree.
 */
export async function runPython(
  python: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<PythonResult> {
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
  // A child process may outlive the program and keep its output open.
  await Promise.race([closed, sleep(OUTPUT_MS, undefined, { ref: false })])
  return { code: status ?? 1, output }
}
