import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import testing from '@temporalio/testing/package.json' with { type: 'json' }
import { releaseLock, takeLock } from '../../../dev/state/lock.js'

const run = promisify(execFile)

const pom = fileURLToPath(
  new URL('../../../dev/tools/temporal-test-server/pom.xml', import.meta.url),
)
const wrapper = join(dirname(pom), 'test-server.sh')
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'steward')

/** Download URL and cache file name of the SDK's official binary. */
const downloadIndex = 'https://temporal.download'
const officialBinary = join(cache, `temporal-test-server-sdk-typescript-${testing.version}`)

/** Limits the delay of a run without network. */
const PROBE_MS = 3_000
/** 30 MB. The Java server is the fallback. */
const DOWNLOAD_MS = 60_000
/** 33 MB in 40 files: 40 s on a fast line. */
const MAVEN_MS = 600_000
/** After a second the server is up and loads no more classes. */
const ARCHIVE_RUN_MS = 4_000

/**
 * Prepares a time-skipping server that starts without network: a cached official binary or Java server, else a fetched
 * one, in this order. A failure is reported by the tests that need the server (`testServer`).
 */
export async function prepareTestServer(): Promise<void> {
  try {
    process.env.TEST_TEMPORAL_SERVER = (await cachedServer()) ?? (await fetchedServer())
  } catch (error) {
    process.env.TEST_TEMPORAL_PROBLEM = (error as Error).message
  }
}

/** Path of an executable that takes a port. */
export function testServer(): string {
  const { TEST_TEMPORAL_SERVER: path, TEST_TEMPORAL_PROBLEM: problem } = process.env
  if (!path) throw new Error(problem ?? 'No time-skipping server: run the tests by npm test.')
  return path
}

async function cachedServer(): Promise<string | undefined> {
  if (existsSync(officialBinary)) return officialBinary
  return existsSync(await jarFolder()) ? javaServer() : undefined
}

async function fetchedServer(): Promise<string> {
  if (await isReachable(downloadIndex)) {
    await downloadBinary()
    if (existsSync(officialBinary)) return officialBinary
  }
  await need('mvn', '-version')
  await fetchJars(await jarFolder())
  return javaServer()
}

async function javaServer(): Promise<string> {
  await need('java', '-version')
  process.env.TEST_SERVER_JARS = await jarFolder()
  return wrapper
}

async function jarFolder(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(pom))
  return join(cache, `temporal-test-server-${hash.digest('hex').slice(0, 12)}`)
}

async function isReachable(url: string): Promise<boolean> {
  const probe = fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_MS) })
  return probe.then(
    () => true,
    () => false,
  )
}

/** The SDK downloads the binary at its first start. Success is read from the file. */
async function downloadBinary(): Promise<void> {
  say('downloading the time-skipping Temporal server')
  const executable = { type: 'cached-download', downloadDir: cache } as const
  await mkdir(cache, { recursive: true })
  const started = TestWorkflowEnvironment.createTimeSkipping({ server: { executable } })
  const done = started.then((environment) => environment.teardown()).catch(() => undefined)
  await Promise.race([done, sleep(DOWNLOAD_MS, undefined, { ref: false })])
}

async function fetchJars(jars: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  await withLock(`${jars}.lock`, async () => {
    if (existsSync(jars)) return
    say('fetching the time-skipping Temporal server by Maven (once, about a minute)')
    const fresh = `${jars}.${process.pid}`
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${fresh}`]
    try {
      await run('mvn', ['-q', '-B', '-f', pom, ...goal], { timeout: MAVEN_MS })
      await rename(fresh, jars)
      await archiveClasses(jars)
    } catch (cause) {
      const { stdout = '', message } = cause as Error & { stdout?: string }
      throw new Error(`${message}\n${stdout.slice(0, 1_000)}`, { cause })
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  })
}

/**
 * Writes the loaded classes of one run to an archive that later runs map into memory. The archive contains the path
 * of the jars, so it is created at their final place. A failure is ignored.
 */
async function archiveClasses(jars: string): Promise<void> {
  const fresh = join(jars, 'fresh.jsa')
  const options = `-XX:ArchiveClassesAtExit=${fresh}`
  const env = { ...process.env, TEST_SERVER_JARS: jars, JDK_JAVA_OPTIONS: options }
  // Java ends by the signal, hence with an error.
  await run(wrapper, ['0'], { env, timeout: ARCHIVE_RUN_MS }).catch(() => undefined)
  await rename(fresh, join(jars, 'classes.jsa')).catch(() => undefined)
}

async function need(command: string, versionFlag: string): Promise<void> {
  await run(command, [versionFlag]).catch((cause: unknown) => {
    throw new Error(
      `Workflow tests need a time-skipping Temporal server: its download (${downloadIndex}) did not ` +
        `come, and \`${command}\` does not run. Install Java 17 and Maven, or allow the download.`,
      { cause },
    )
  })
}

/** Runs `action` exclusively among all processes. Takes over the lock of a dead process. */
async function withLock(file: string, action: () => Promise<void>): Promise<void> {
  while (takeLock(file)) await sleep(200)
  try {
    await action()
  } finally {
    releaseLock(file)
  }
}

function say(what: string): void {
  process.stderr.write(`tests: ${what}\n`)
}
