import * as fs from 'node:fs'
import path from 'node:path'
import { rootFolder } from '../state/state.js'
import { Explained } from '../terminal.js'
import { cacheFolder, holdingLock } from './programCache.js'
import { buildGo } from './temporalSources.js'

/** Programs of a Temporal cluster. `folder` holds all of them, under the names that Temporal's images give them. */
export type TemporalPrograms = { folder: string; server: string }

type Options = {
  env?: NodeJS.ProcessEnv
  /** Folder of the Go module that pins the version. */
  moduleFolder?: string
  signal?: AbortSignal
}

/** What `go build` calls a program, and what Temporal's images call it. */
const names = [
  ['server', 'temporal-server'],
  ['sql', 'temporal-sql-tool'],
] as const
const packages = ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql']

/**
 * Finds the server and the schema tool of the version that `tools/temporal-server` pins, built once and kept.
 *
 * @throws {Explained} when they cannot be built.
 */
export async function findTemporalPrograms(options: Options = {}): Promise<TemporalPrograms> {
  const { env = process.env, signal } = options
  const { moduleFolder = path.join(rootFolder, 'tools/temporal-server') } = options
  const pins = ['go.mod', 'go.sum'].map((name) => path.join(moduleFolder, name))
  const folder = cacheFolder(env, 'temporal-server', pins)
  const programs = { folder, server: path.join(folder, 'temporal-server') }
  if (fs.existsSync(folder)) return programs
  fs.mkdirSync(path.dirname(folder), { recursive: true })
  await holdingLock(folder, async () => {
    if (fs.existsSync(folder)) return
    await fill(folder, { moduleFolder, env, ...(signal && { signal }) })
  })
  return programs
}

/** Builds under a second name first: a build that is cut off leaves nothing that looks whole. */
async function fill(folder: string, pin: Parameters<typeof buildGo>[0]): Promise<void> {
  const draft = `${folder}.${process.pid}`
  fs.rmSync(draft, { recursive: true, force: true })
  try {
    fs.mkdirSync(draft)
    const title = 'Building temporal-server and temporal-sql-tool, once (about 5 min on 2 cores)'
    await buildGo(pin, `${draft}${path.sep}`, { title, packages })
    for (const [built, name] of names) {
      fs.renameSync(path.join(draft, built), path.join(draft, name))
    }
    fs.renameSync(draft, folder)
  } catch (cause) {
    throw new Explained(
      `temporal-server could not be built from tools/temporal-server (${(cause as Error).message}).\n` +
        'Install Go 1.21 or newer, or set TEMPORAL_ADDRESS to a running server.',
      { cause },
    )
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
}
