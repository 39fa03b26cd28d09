import { Steward } from '@steward/sdk'
import { misused } from './exit.js'
import { DEFAULT_PROFILE, findProfile, isExposed, configFile, type Network } from './profiles.js'
import { findDevnet } from './devnet.js'
import { factLines, tableLines, type TextColumn } from './terminal/table.js'
import { toJson } from './terminal/text.js'
import type { Command } from 'commander'
import type { Io } from './terminal/io.js'

/** Options of every command. */
export type GlobalOptions = { json?: true; profile?: string; baseUrl?: string }

/** Address and key of a command. */
export type Access = {
  baseUrl: string
  apiKey: string
  /** Absent when it is not determined yet. */
  network?: Network
  /** The profile of the key. Absent when the key comes from the environment. */
  profile?: string
}

export type Session = {
  io: Io
  steward: Steward
  access: Access
  say: Speaker
}

/** Prints results: JSON for programs, lines of text otherwise. */
export type Speaker = {
  isJson: boolean
  /** Prints a result as JSON or as these lines. */
  show(value: unknown, lines: () => string[]): void
  /** Prints one entry of a stream, as one line of JSON or as these lines. */
  next(value: unknown, lines: () => string[]): void
  table<Row>(rows: readonly Row[], columns: readonly TextColumn<Row>[]): string[]
  facts(facts: readonly (readonly [string, string | undefined])[]): string[]
  /** Prints a note for the user to stderr. */
  note(text: string): void
}

export function openSpeaker({ out, err }: Io, isJson: boolean): Speaker {
  const print = (lines: string[]) => {
    out.write(lines.map((line) => `${line}\n`).join(''))
  }
  return {
    isJson,
    show: (value, lines) => print(isJson ? [toJson(value, 2)] : lines()),
    next: (value, lines) => print(isJson ? [toJson(value)] : lines()),
    table: (rows, columns) => tableLines(rows, columns, out.paint.dim),
    facts: (facts) => factLines(facts, out.paint.dim),
    note: (text) => err.write(`${text}\n`),
  }
}

/** Opens the session of a command, with the key from its options or the environment. */
export function openSession(io: Io, command: Command): Session {
  const options = command.optsWithGlobals<GlobalOptions>()
  const access = findAccess(io, options)
  const { apiKey, baseUrl } = access
  const steward = openClient(io, apiKey, baseUrl)
  return { io, steward, access, say: openSpeaker(io, options.json === true) }
}

/** Opens the client of a command. The report of a failed call names its service. */
export function openClient(io: Io, apiKey: string, baseUrl: string): Steward {
  io.host = hostOf(baseUrl)
  return new Steward({ apiKey, baseUrl })
}

/**
 * The key of the named profile, otherwise of the environment, otherwise of the default profile.
 *
 * @throws {CommandError} when no key is found.
 */
function findAccess({ env, err }: Io, options: GlobalOptions): Access {
  const { STEWARD_API_KEY: apiKey, STEWARD_PROFILE } = env
  if (options.profile === undefined && apiKey) return ofEnvironment(apiKey, env, options.baseUrl)
  const name = options.profile ?? (STEWARD_PROFILE || DEFAULT_PROFILE)
  const profile = findProfile(env, name)
  if (!profile) throw notLoggedIn(env, name)
  if (isExposed(env)) {
    err.write(`! Other users can read your keys. Run: chmod 600 '${configFile(env)}'\n`)
  }
  const { baseUrl, network } = profile
  if (options.baseUrl !== undefined && toBaseUrl(options.baseUrl) !== baseUrl) {
    const hint = `Log in to the other address: steward login --profile <name> --base-url <url>`
    throw misused(
      `The key of the profile ${name} is for ${baseUrl} and is not sent to another address.`,
      hint,
    )
  }
  return { baseUrl, apiKey: profile.apiKey, ...(network && { network }), profile: name }
}

function ofEnvironment(
  apiKey: string,
  env: NodeJS.ProcessEnv,
  baseUrlOption: string | undefined,
): Access {
  const baseUrl = baseUrlOption ?? env.STEWARD_BASE_URL
  if (baseUrl) return { baseUrl: toBaseUrl(baseUrl), apiKey }
  throw misused(
    'STEWARD_API_KEY is set, but the address of the API is missing.',
    'Set STEWARD_BASE_URL, or add --base-url.',
  )
}

function notLoggedIn(env: NodeJS.ProcessEnv, name: string) {
  const option = name === DEFAULT_PROFILE ? '' : ` --profile ${name}`
  const hints = [`Log in: steward login${option} --base-url <url>`]
  if (findDevnet(env))
    hints.push(`Use the devnet of this checkout: steward login${option} --devnet`)
  return misused(`The profile ${name} has no key.`, ...hints)
}

/**
 * The base URL of the API with `/v1`, from a text with or without it.
 *
 * @throws {CommandError} when the text is not an HTTP address.
 */
export function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused('The base URL is not valid. Start it with https:// or http://.')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw misused('The base URL must not contain a user name, a password, a query or a fragment.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}

/** The base URL without `/v1`, where the health checks and the documentation are. */
export const hostOf = (baseUrl: string): string => baseUrl.replace(/\/v\d+$/, '')
