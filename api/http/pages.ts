import { z } from 'zod'
import { safeText } from '../../domain/intent.js'
import { ServiceError } from '../../domain/errors.js'
import type { Slice } from '../../db/connection/slice.js'

const MAX_LIMIT = 100
const DEFAULT_LIMIT = 20

/** What every list takes to be read page by page. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(MAX_LIMIT))
    .default(DEFAULT_LIMIT)
    .meta({
      description: 'Entries per page.',
      examples: [DEFAULT_LIMIT],
      override: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    }),
  cursor: safeText(128).optional().meta({ description: 'The `nextCursor` of the page before.' }),
}

/**
 * Reads the query of a list.
 *
 * @param ids - What the list's ids look like: a cursor of another list is refused.
 * @throws {ServiceError} INVALID_REQUEST when the cursor is none of this list's.
 */
export function toSlice(query: { limit: number; cursor?: string | undefined }, ids: RegExp): Slice {
  const { limit, cursor } = query
  if (cursor === undefined) return { limit }
  const before = Buffer.from(cursor, 'base64url').toString()
  if (ids.test(before) && cursorOf(before) === cursor) return { limit, before }
  const message = 'is not a cursor of this list; send the `nextCursor` of its last answer'
  throw new ServiceError('INVALID_REQUEST', `cursor: ${message}`, {
    issues: [{ path: 'cursor', message }],
  })
}

/**
 * A list's answer.
 *
 * @param rows - One more than the slice's limit when others follow, newest first.
 */
export function pageBody<Row extends { id: string }>(
  rows: Row[],
  { limit }: Slice,
  toBody: (row: Row) => unknown,
) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return {
    data: shown.map(toBody),
    hasMore,
    nextCursor: hasMore && last ? cursorOf(last.id) : null,
  }
}

const cursorOf = (id: string) => Buffer.from(id).toString('base64url')
