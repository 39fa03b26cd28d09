import { Steward } from '@steward/sdk'
import { misused } from './exit.js'
import { DEFAULT_PROFILE, findProfile, isExposed, configFile, type Network } from './profiles.js'
import { findDevnet } from './devnet.js'
import { factLines, tableLines, type Column } from './terminal/table.js'
import { toJson } from './terminal/text.js'
import type { Command } from 'commander'
import type { Io } from './terminal/io.js'

/** Options that every command has. */
export type GlobalOptions = { json?: true; profile?: string; baseUrl?: string }

/** Where a command goes, and with which key. */
export type Access = {
  baseUrl: string
  apiKey: string
  /** Absent when nobody has looked yet. */
  network?: Network
  /** The profile that it comes from; absent when it is of the environment. */
  profile?: string
}

export type Session = {
  io: Io
  steward: Steward
  access: Access
  say: Speaker
}

/** How results are told: a document for programs, lines for people. */
export type Speaker = {
  isJson: boolean
  /** A result: as JSON, or as these lines. */
  show(value: unknown, lines: () => string[]): void
  /** One of many that come in time: a line of JSON, or these lines. */
  next(value: unknown, lines: () => string[]): void
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[]
  facts(facts: readonly (readonly [string, string | undefined])[]): string[]
  /** Something to know beside the result: people read it, programs do not. */
  note(text: string): void
}

export function openSpeaker({ out, err }: Io, isJson: boolean): Speaker {
  const tell = (lines: string[]) => {
    out.write(lines.map((line) => `${line}\n`).join(''))
  }
  return {
    isJson,
    show: (value, lines) => tell(isJson ? [toJson(value, 2)] : lines()),
    next: (value, lines) => tell(isJson ? [toJson(value)] : lines()),
    table: (rows, columns) => tableLines(rows, columns, out.paint.dim),
    facts: (facts) => factLines(facts, out.paint.dim),
    note: (text) => err.write(`${text}\n`),
  }
}

/** The client of a command, with the key that its options and its environment name. */
export function openSession(io: Io, command: Command): Session {
  const options = command.optsWithGlobals<GlobalOptions>()
  const access = findAccess(io, options)
  const { apiKey, baseUrl } = access
  const steward = new Steward({ apiKey, baseUrl })
  return { io, steward, access, say: openSpeaker(io, options.json === true) }
}

/**
 * The key that is meant: of the profile that is named, else of the environment, else of the default profile.
 *
 * @throws {CommandError} when there is none.
 */
function findAccess({ env, err }: Io, options: GlobalOptions): Access {
  const { STEWARD_API_KEY: apiKey, STEWARD_PROFILE } = env
  if (options.profile === undefined && apiKey) return ofEnvironment(apiKey, env, options.baseUrl)
  const name = options.profile ?? (STEWARD_PROFILE || DEFAULT_PROFILE)
  const profile = findProfile(env, name)
  if (!profile) throw notLoggedIn(env, name)
  if (isExposed(env)) {
    err.write(`! Others can read your keys. Run: chmod 600 '${configFile(env)}'\n`)
  }
  const { baseUrl, network } = profile
  if (options.baseUrl !== undefined && toBaseUrl(options.baseUrl) !== baseUrl) {
    const hint = `Log in there: steward login --profile <name> --base-url <url>`
    throw misused(
      `The key of the profile ${name} is for ${baseUrl}, and is sent nowhere else.`,
      hint,
    )
  }
  return { baseUrl, apiKey: profile.apiKey, ...(network && { network }), profile: name }
}

function ofEnvironment(apiKey: string, env: NodeJS.ProcessEnv, asked: string | undefined): Access {
  const baseUrl = asked ?? env.STEWARD_BASE_URL
  if (baseUrl) return { baseUrl: toBaseUrl(baseUrl), apiKey }
  throw misused(
    'STEWARD_API_KEY is set, and where the API is is not.',
    'Set STEWARD_BASE_URL, or send --base-url.',
  )
}

function notLoggedIn(env: NodeJS.ProcessEnv, name: string) {
  const option = name === DEFAULT_PROFILE ? '' : ` --profile ${name}`
  const hints = [`Log in: steward login${option} --base-url <url>`]
  if (findDevnet(env)) hints.push(`A devnet runs here: steward login${option} --devnet`)
  return misused(`There is no key for the profile ${name}.`, ...hints)
}

/**
 * The address of the API's `v1`, whether it was given with or without it.
 *
 * @throws {CommandError} for what is no address of the web.
 */
export function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused('The base URL must begin with https:// or http://.')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw misused('The base URL has no place for a name, a password, a query or a fragment.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}

/** The address without `/v1`, where health and documents are. */
export const hostOf = (baseUrl: string): string => baseUrl.replace(/\/v\d+$/, '')
