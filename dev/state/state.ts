import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { chainNames, type ChainName } from '../../evm/registry.js'
import { hasEmbeddedPostgres, removeEmbeddedPostgres } from '../stack/embeddedPostgres.js'
import { readJson, writeJson } from './jsonFile.js'
import { releaseLock, takeLock } from './lock.js'
import { endProcess, identify, isRunning, type ProcessId } from './processes.js'
import { UserError } from '../terminal.js'
import type { RolePasswords } from '../../db/client/migrate.js'

export const rootFolder = path.resolve(fileURLToPath(import.meta.url), '../../..')

/** Contents of the state folder. Only `--fresh` removes them, and only by these names. */
const names = {
  lock: 'instance.json',
  children: 'children.json',
  set: 'set.json',
  secrets: 'secrets.json',
  facts: 'dev.json',
  contracts: 'devnet.json',
  kek: 'kek.json',
  webhookKey: 'webhook-key',
  postgres: 'postgres',
  temporal: 'temporal',
  temporalPostgres: 'temporal-postgres',
  chains: 'chains',
  logs: 'logs',
} as const

/** Paths of the state folder. */
export type Home = Record<keyof typeof names, string> & {
  folder: string
  temporalDb: string
  chain(name: ChainName): string
  log(part: string): string
}

/** Passwords of the service roles, and the demo account's key. A restart keeps them. */
export type Secrets = RolePasswords & { apiKey?: string }

/** For a Temporal server that keeps its state in its own Postgres, as a cluster does. */
export const TEMPORAL_ON_POSTGRES = 'embedded, on Postgres'

/** Location of each part of a set: `embedded`, or its address when it is given from outside. */
export type Places = { postgres: string; temporal: string } & Record<ChainName, string>

/**
 * One generation of state. Its id is also in the database and on the chains, which identifies parts of another set.
 * `isComplete`: the stack has served. Before that the state holds nothing worth keeping.
 */
export type StateSet = { id: string; isComplete: boolean; places: Places }

/** The state folder: `STEWARD_HOME`, else `.steward` in the checkout. */
export function openHome(env: NodeJS.ProcessEnv): Home {
  const folder = path.resolve(rootFolder, env.STEWARD_HOME ?? '.steward')
  const entries = Object.entries(names).map(([key, name]) => [key, path.join(folder, name)])
  const paths = Object.fromEntries(entries) as Record<keyof typeof names, string>
  return {
    ...paths,
    folder,
    temporalDb: path.join(paths.temporal, 'temporal.db'),
    chain: (name) => path.join(paths.chains, `${name}.json`),
    log: (part) => path.join(paths.logs, `${part.replaceAll(/\W+/g, '-')}.log`),
  }
}

/**
 * Creates the folders. Other accounts can pass through but not list them, because the account of Postgres must reach
 * its data.
 */
export function makeFolders(home: Home): void {
  if (!fs.existsSync(home.folder)) {
    fs.mkdirSync(home.folder, { recursive: true })
    fs.chmodSync(home.folder, 0o711)
  }
  for (const folder of [home.temporal, home.chains, home.logs]) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
}

/**
 * Locks the folder for this process.
 *
 * @returns Releases the lock.
 * @throws {UserError} while another process holds it. The lock of a dead process is taken over.
 */
export function lockHome(home: Home): () => void {
  const holder = takeLock(home.lock)
  if (holder) throw new UserError(describeInstance(home, holder.pid))
  return () => releaseLock(home.lock)
}

function describeInstance(home: Home, pid: number): string {
  const url = readJson<{ apiBaseUrl?: string }>(home.facts)?.apiBaseUrl
  const where = url ? ` at ${url}` : ''
  return `Steward already runs${where} (pid ${pid}). Use it, or stop it with Ctrl-C (kill ${pid}).`
}

/** Records the children, so that the next start finds them if this process is killed. */
export function recordChildren(home: Home, pids: Record<string, number>): void {
  const children = Object.entries(pids).map(([name, pid]) => ({ name, ...identify(pid) }))
  writeJson(
    home.children,
    children.filter((child) => 'pid' in child),
  )
}

/**
 * Stops the children of a killed instance in the normal stop order, so that each saves its state.
 *
 * @returns Names of the children that still ran.
 */
export async function reapOrphans(home: Home, stopOrder: string[][]): Promise<string[]> {
  const children = readJson<(ProcessId & { name: string })[]>(home.children) ?? []
  const orphans = children.filter(isRunning)
  for (const names of stopOrder) {
    const stage = orphans.filter(({ name }) => names.includes(name))
    await Promise.all(
      stage.map((child) =>
        endProcess(child, child.name.endsWith('postgres') ? 'SIGINT' : 'SIGTERM', ORPHAN_GRACE_MS),
      ),
    )
  }
  fs.rmSync(home.children, { force: true })
  return orphans.map(({ name }) => name)
}

/** A worker may wait for a running step. Unfinished work resumes after the restart. */
const ORPHAN_GRACE_MS = 5_000

/** Removes everything but the lock. Removes only files that Steward created, because the folder may hold others. */
export function wipeHome(home: Home): void {
  for (const cluster of [home.postgres, home.temporalPostgres]) removeEmbeddedPostgres(cluster)
  for (const key of Object.keys(names) as (keyof typeof names)[]) {
    if (key !== 'lock') fs.rmSync(home[key], { recursive: true, force: true })
  }
}

/**
 * Opens the set in the folder, or creates one.
 *
 * @throws {UserError} when a part is missing or has moved. A chain without its database, or the reverse, would pay
 *   twice or never.
 */
export function openSet(home: Home, places: Places): StateSet {
  const set = readJson<StateSet>(home.set)
  if (set && !set.isComplete) return { ...set, places }
  if (!set) {
    const leftover = findParts(home, allEmbedded).filter(([, isThere]) => isThere)
    if (leftover.length > 0) {
      throw new UserError(describeLoss(['the record of the set (set.json)']))
    }
    return { id: randomBytes(16).toString('hex'), isComplete: false, places }
  }
  const lost = findParts(home, set.places).filter(([, isThere]) => !isThere)
  if (lost.length > 0) throw new UserError(describeLoss(lost.map(([part]) => part)))
  const moved = (Object.keys(places) as (keyof Places)[]).filter(
    (part) => places[part] !== set.places[part],
  )
  if (moved.length > 0) {
    const moves = moved.map((part) => `${part} was ${set.places[part]}, now is ${places[part]}`)
    throw new UserError(
      `The state in this folder belongs to other parts: ${moves.join('; ')}.\n${WAY_OUT}`,
    )
  }
  return set
}

export function saveSet(home: Home, set: StateSet): void {
  writeJson(home.set, set)
}

/** Advice for a set that cannot be continued. */
const WAY_OUT =
  'Bring it back, or start over from nothing with: npm start -- --fresh (it deletes all wallets and intents).'

const allEmbedded = Object.fromEntries(
  ['postgres', 'temporal', ...chainNames].map((part) => [part, 'embedded']),
) as Places

/** The parts that belong together, described for the user, and whether each one exists. */
function findParts(home: Home, places: Places): [string, boolean][] {
  const files: [string, string][] = [
    ['the passwords and the API key (secrets.json)', home.secrets],
    ['the key of the signer (kek.json)', home.kek],
  ]
  if (places.temporal === 'embedded') files.push(['the state of Temporal', home.temporalDb])
  for (const name of chainNames) {
    if (places[name] === 'embedded')
      files.push([`the state of ${name}`, findChainState(home, name)])
  }
  const parts = files.map<[string, boolean]>(([part, file]) => [part, fs.existsSync(file)])
  if (places.postgres === 'embedded') {
    parts.push(['the database', hasEmbeddedPostgres(home.postgres)])
  }
  if (places.temporal === TEMPORAL_ON_POSTGRES) {
    parts.push(['the database of Temporal', hasEmbeddedPostgres(home.temporalPostgres)])
  }
  return parts
}

/** A chain that was killed during a write of its state leaves the copy of the previous state. */
function findChainState(home: Home, name: ChainName): string {
  const file = home.chain(name)
  return fs.existsSync(file) ? file : `${file}.last`
}

function describeLoss(parts: string[]): string {
  const verb = parts.length === 1 ? 'is' : 'are'
  return (
    `The state is only half there: ${parts.join(', ')} ${verb} missing. Database, Temporal, keys and ` +
    `chains belong together, so nothing was started.\n${WAY_OUT}`
  )
}

/**
 * Checks that a part belongs to the set by the id that it holds.
 *
 * @param part - Begins the message, such as `The database`.
 * @param mark - The stored id; undefined when there is none.
 */
export function assertSameSet(part: string, mark: string | undefined, set: StateSet): void {
  if (mark === set.id || (mark === undefined && !set.isComplete)) return
  const reason = mark === undefined ? 'has lost its state' : 'belongs to another set of state'
  const advice = set.isComplete
    ? WAY_OUT
    : 'Give an empty one: npm start never wipes what it was given from outside.'
  throw new UserError(`${part} ${reason}, so its wallets and balances do not match.\n${advice}`)
}

/** The passwords of the set, each created at its first use, because a set may be older than a service. */
export function openSecrets(home: Home): Secrets {
  const password = () => randomBytes(24).toString('hex')
  const fresh = { api: password(), worker: password(), relayer: password(), signer: password() }
  const kept = readJson<Partial<Secrets>>(home.secrets) ?? {}
  const secrets = { ...fresh, ...kept }
  if (Object.keys(secrets).length > Object.keys(kept).length) writeJson(home.secrets, secrets)
  return secrets
}
