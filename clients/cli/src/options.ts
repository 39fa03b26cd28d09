import { InvalidArgumentError, type Command } from 'commander'
import type { List, Page, PageParams } from '@steward/sdk'
import type { Session } from './session.js'

/** Parsers of options and arguments. */

export type PageOptions = { limit?: number; cursor?: string; all?: true }
export type IdempotencyOptions = { idempotencyKey?: string }

export const addPaging = (command: Command): Command =>
  command
    .option('--limit <count>', 'entries per page', parseCount)
    .option('--cursor <cursor>', 'continue after a page, by its nextCursor')
    .option('--all', 'read all pages')

export const addKeyOption = (command: Command): Command =>
  command.option(
    '--idempotency-key <key>',
    'identifies this call: repeated with the same key, it is executed once',
  )

/** Reads one page, or all pages as one with `--all`. */
export async function readPages<Item>(
  { limit, cursor, all }: PageOptions,
  read: (page: PageParams) => List<Item>,
): Promise<Page<Item>> {
  const from = cursor === undefined ? {} : { cursor }
  if (!all) return read({ ...from, ...(limit !== undefined && { limit }) })
  const data: Item[] = []
  for await (const item of read(from)) data.push(item)
  return { data, hasMore: false, nextCursor: null }
}

/** The id of a wallet, from its id or the `userId` of its owner. */
export async function walletIdOf({ steward }: Session, name: string): Promise<string> {
  if (name.startsWith('svc_wallet_')) return name
  return (await steward.wallets.get(name)).id
}

export function parseCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count > 0 && Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError('Pass a whole number above 0.')
}

/** Milliseconds of `90` (seconds), `90s`, `5m` or `1h`. */
export function parseDuration(text: string): number {
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? []
  const perUnit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit]
  if (digits && perUnit && Number(digits) > 0) return Number(digits) * perUnit
  throw new InvalidArgumentError('Pass a duration such as 90s, 5m or 1h.')
}

/** The amount as typed. It is sent as text and never rounded. */
export function parseAmount(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text)) return text
  throw new InvalidArgumentError('Pass a decimal number such as 25 or 0.5.')
}

export const parseAmountOrMax = (text: string): string =>
  text === 'max' ? text : parseAmount(text)

/** Parses a JSON object, such as `metadata`. Like the API, it rejects what `JSON.parse` would change silently. */
export function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    assertFaithful(text)
    return value as Record<string, unknown>
  }
  throw new InvalidArgumentError('Pass a JSON object such as \'{"tier":"gold"}\'.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Strings, names with their colon, numbers and braces of a JSON text. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|[{}]/g

/** Rejects a repeated name and a number that loses digits, on valid JSON. */
function assertFaithful(json: string): void {
  const open: Set<string>[] = []
  for (const [token, quoted, colon] of json.matchAll(tokens)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (quoted === undefined) assertExact(token)
    else if (colon !== undefined) addName(JSON.parse(quoted) as string, open.at(-1))
  }
}

function addName(name: string, names = new Set<string>()): void {
  if (!names.has(name)) return void names.add(name)
  throw new InvalidArgumentError(
    `${JSON.stringify(name)} is in the object more than once. Send it once.`,
  )
}

function assertExact(number: string): void {
  if (digitsOf(number) === digitsOf(String(Number(number)))) return
  throw new InvalidArgumentError(`${number} is a number that loses digits. Send it as text.`)
}

/** The significant digits of a number. A double that keeps them is the same number. */
const digitsOf = (number: string) =>
  number
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')

/** Splits a comma-separated list. */
export const parseNames = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
