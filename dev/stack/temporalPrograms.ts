import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootFolder } from '../state/state.js'
import { UserError, say } from '../terminal.js'
import { programCache } from './programCache.js'

/** Programs of a Temporal cluster. `folder` holds all of them, under their names in Temporal's images. */
export type TemporalPrograms = { folder: string; server: string }

type BuildOptions = {
  env?: NodeJS.ProcessEnv
  /** Folder of the Go module that pins the version. */
  moduleFolder?: string
  signal?: AbortSignal
}

/** Name of each program for `go build`, and in Temporal's images. */
const names = [
  ['server', 'temporal-server'],
  ['sql', 'temporal-sql-tool'],
] as const
const packages = ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql']

/** A build lists its downloads. */
const MAX_OUTPUT = 16_000_000

/**
 * The server and the schema tool of the version that `dev/tools/temporal-server` pins. Built once and kept.
 *
 * @throws {UserError} when the build fails.
 */
export async function findTemporalPrograms(options: BuildOptions = {}): Promise<TemporalPrograms> {
  const { env = process.env, signal = new AbortController().signal } = options
  const { moduleFolder = path.join(rootFolder, 'dev/tools/temporal-server') } = options
  const goMod = fs.readFileSync(path.join(moduleFolder, 'go.mod'), 'utf8')
  const [, version = ''] = /go\.temporal\.io\/server v(\S+)/.exec(goMod) ?? []
  const folder = path.join(programCache(env), `temporal-server-${version}`)
  if (!fs.existsSync(folder)) await fill(folder, { moduleFolder, env, signal })
  return { folder, server: path.join(folder, 'temporal-server') }
}

/** Builds under a temporary name first, so that an interrupted build leaves no partial program. */
async function fill(
  folder: string,
  { moduleFolder, env, signal }: Required<BuildOptions>,
): Promise<void> {
  say('  Building temporal-server and temporal-sql-tool, once (about 5 min on 2 cores) …')
  fs.mkdirSync(path.dirname(folder), { recursive: true })
  const draft = fs.mkdtempSync(`${folder}.`)
  try {
    const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', `${draft}/`]
    const goEnv = { ...env, CGO_ENABLED: '0' }
    const where = { cwd: moduleFolder, env: goEnv, signal, maxBuffer: MAX_OUTPUT }
    await promisify(execFile)('go', [...args, ...packages], where)
    for (const [built, name] of names) {
      fs.renameSync(path.join(draft, built), path.join(draft, name))
    }
    // Of two concurrent builds the first one is kept.
    if (!fs.existsSync(folder)) fs.renameSync(draft, folder)
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string }
    throw new UserError(
      `temporal-server could not be built from dev/tools/temporal-server ` +
        `(${stderr?.trim().split('\n').at(-1) || message}).\n` +
        'Install Go 1.21 or newer, or set TEMPORAL_ADDRESS to a running server.',
      { cause },
    )
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
}
