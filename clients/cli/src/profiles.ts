import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { misused } from './exit.js'

/** A stored login. `network`: absent when it could not be determined at login. */
export type Profile = {
  baseUrl: string
  apiKey: string
  network?: Network
  /** Signing secret of `webhooks listen`. It is kept, so that a receiver is configured once. */
  webhookSecret?: string
}
export type Network = 'testnet' | 'mainnet'

type Config = { profiles: Record<string, Profile> }

export const DEFAULT_PROFILE = 'default'

/** `$XDG_CONFIG_HOME/steward/config.json`. */
export function configFile(env: NodeJS.ProcessEnv): string {
  // A relative path must be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
  const home = env.XDG_CONFIG_HOME
  const base = home && path.isAbsolute(home) ? home : path.join(env.HOME ?? homedir(), '.config')
  return path.join(base, 'steward', 'config.json')
}

export function findProfile(env: NodeJS.ProcessEnv, name: string): Profile | undefined {
  const { profiles } = readConfig(configFile(env))
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined
}

export const profileNames = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(readConfig(configFile(env)).profiles)

export function saveProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile): string {
  const file = configFile(env)
  const { profiles } = readConfig(file)
  writeConfig(file, { profiles: { ...profiles, [name]: profile } })
  return file
}

/** Whether the profile existed. */
export function removeProfile(env: NodeJS.ProcessEnv, name: string): boolean {
  const file = configFile(env)
  const { profiles } = readConfig(file)
  if (!Object.hasOwn(profiles, name)) return false
  const others = Object.entries(profiles).filter(([other]) => other !== name)
  writeConfig(file, { profiles: Object.fromEntries(others) })
  return true
}

/** Whether other users of this machine can read the keys. */
export function isExposed(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'win32') return false
  const found = fs.statSync(configFile(env), { throwIfNoEntry: false })
  return found !== undefined && (found.mode & 0o077) !== 0
}

function readConfig(file: string): Config {
  const text = readText(file)
  if (text === undefined) return { profiles: {} }
  const config = parse(text)
  if (isConfig(config)) return config
  throw misused(
    `${file} is not a valid configuration file.`,
    'Delete it, then log in: steward login',
  )
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw misused(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isConfig(value: unknown): value is Config {
  if (!isObject(value) || !isObject(value.profiles)) return false
  return Object.values(value.profiles).every(
    (one) => isObject(one) && typeof one.baseUrl === 'string' && typeof one.apiKey === 'string',
  )
}

/** Writes the file atomically. Other users can read it at no time. */
function writeConfig(file: string, config: Config): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  fs.writeFileSync(draft, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
  fs.renameSync(draft, file)
}
