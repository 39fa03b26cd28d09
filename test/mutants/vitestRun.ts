import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The results of one test file. */
export type FileReport = {
  passed: number
  failed: number
  /** Why the file could not run, or its first failure. */
  message: string
}

/** Results by test file, relative to the root; undefined after a timeout. */
export type VitestReport = Map<string, FileReport> | undefined

type FileResult = { name: string; message: string; assertionResults: { status: string }[] }

/** The running Vitest, which must not outlive this process. */
let running: ChildProcess | undefined

/** Kills the running Vitest and its child processes. */
export function stopRun(): void {
  if (running?.pid === undefined) return
  try {
    process.kill(-running.pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

/** Runs test files of the scratch copy, for at most the given seconds. */
export async function runTests(
  path: string,
  files: string[],
  seconds: number,
): Promise<VitestReport> {
  const output = join(path, 'report.json')
  rmSync(output, { force: true })
  const { ended, log } = start(path, files, output)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    stopRun()
  }, seconds * 1000)
  await ended.finally(() => {
    clearTimeout(timer)
    running = undefined
  })
  if (isLate) return undefined
  const results = readResults(output)
  // Without a report no test ran. The output is then the only information.
  if (!results)
    return new Map(files.map((file) => [file, { passed: 0, failed: 0, message: log() }]))
  return new Map(results.map((file) => [relative(path, file.name), toReport(file)]))
}

function start(path: string, files: string[], output: string) {
  const child = spawn(
    process.execPath,
    [
      ...['node_modules/vitest/vitest.mjs', 'run', ...files, '--no-color'],
      ...['--reporter=json', `--outputFile=${output}`],
    ],
    // A process group of its own, which is killed together with the servers that it has started.
    { cwd: path, detached: true, stdio: ['ignore', 'ignore', 'pipe'], env: runEnv() },
  )
  running = child
  let text = ''
  child.stderr.on('data', (chunk) => (text += String(chunk)))
  const ended = new Promise<void>((resolve, reject) => {
    // Remaining children may keep its pipes open, so they are not awaited.
    child.on('error', reject).on('exit', () => resolve())
  })
  return { ended, log: () => text }
}

/** The environment of a shell, also when a test has started this process. */
function runEnv(): NodeJS.ProcessEnv {
  const isOfTests = (name: string) => /^(VITEST|TEST|NODE_ENV|NODE_OPTIONS)/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTests(name)))
}

function readResults(output: string): FileResult[] | undefined {
  try {
    return (JSON.parse(readFileSync(output, 'utf8')) as { testResults: FileResult[] }).testResults
  } catch {
    return undefined
  }
}

function toReport({ assertionResults, message }: FileResult): FileReport {
  const count = (wanted: string) =>
    assertionResults.filter(({ status }) => status === wanted).length
  return { passed: count('passed'), failed: count('failed'), message }
}
