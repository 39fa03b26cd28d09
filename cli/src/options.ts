import { InvalidArgumentError, type Command } from 'commander'
import type { List, Page, PageParams } from '@steward/sdk'
import type { Session } from './session.js'

/** What options and arguments mean. */

export type PageOptions = { limit?: number; cursor?: string; all?: true }
export type WriteOptions = { idempotencyKey?: string }

export const addPaging = (command: Command): Command =>
  command
    .option('--limit <count>', 'how many at most', parseCount)
    .option('--cursor <cursor>', 'go on where a page ended, by its nextCursor')
    .option('--all', 'all pages')

export const addKeyOption = (command: Command): Command =>
  command.option(
    '--idempotency-key <key>',
    'a name for this call: sent again with the same key, it is done once',
  )

/** Reads a page, or with `--all` every one, as one. */
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

/** The id of a wallet that is named by it, or by the `userId` of its owner. */
export async function walletIdOf({ steward }: Session, name: string): Promise<string> {
  if (name.startsWith('svc_wallet_')) return name
  return (await steward.wallets.get(name)).id
}

export function parseCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count > 0 && Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError('It must be a whole number above 0.')
}

/** `90`, `90s`, `5m`, `1h`: in milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? []
  const perUnit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit]
  if (digits && perUnit && Number(digits) > 0) return Number(digits) * perUnit
  throw new InvalidArgumentError('It must be a time such as 90s, 5m or 1h.')
}

/** The text of an amount goes to the API as it was typed: nothing is rounded here. */
export function parseAmount(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text)) return text
  throw new InvalidArgumentError('It must be decimal, such as 25 or 0.5.')
}

export const parseAmountOrMax = (text: string): string =>
  text === 'max' ? text : parseAmount(text)

/** A JSON object, as `metadata` is one. */
export function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"tier":"gold"}\'.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Names with commas between them. */
export const parseNames = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
