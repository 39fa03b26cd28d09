import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

/** How the tests of one file ended. */
export type FileReport = {
  passed: number
  failed: number
  /** Why the file could not be run, or what failed first. */
  message: string
}

/** By test file, from the root; undefined when there is no answer within the time. */
export type VitestReport = Map<string, FileReport> | undefined

type FileResult = { name: string; message: string; assertionResults: { status: string }[] }

/** What runs now, so that it does not outlive this process. */
let running: ChildProcess | undefined

/** Ends what runs, with all that it has started. */
export function stopRun(): void {
  if (running?.pid === undefined) return
  try {
    process.kill(-running.pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Runs test files of the scratch copy, at most for so many seconds. */
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
  // Without a report nothing was run: what it said is all there is to know.
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
    // The leader of a group: it is ended together with the servers that it has started.
    { cwd: path, detached: true, stdio: ['ignore', 'ignore', 'pipe'], env: runEnv() },
  )
  running = child
  let text = ''
  child.stderr.on('data', (chunk) => (text += String(chunk)))
  const ended = new Promise<void>((resolve, reject) => {
    // What it has left behind may hold its pipes open: nobody waits for that.
    child.on('error', reject).on('exit', () => resolve())
  })
  return { ended, log: () => text }
}

/** As from a shell, also where a test has started this process. */
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
