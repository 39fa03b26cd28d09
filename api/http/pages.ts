import { z } from 'zod'
import { safeText } from '../schemas/safeText.js'
import { invalidRequest } from '../../domain/errors.js'
import { MOST_ROWS, type Slice } from '../../db/connection/slice.js'

const DEFAULT_LIMIT = 20

/** What every list takes to be read page by page. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^-?\d+$/, { error: 'must be a whole number', abort: true })
    .refine((digits) => Number(digits) >= 1, 'must be at least 1')
    .refine((digits) => Number(digits) <= MOST_ROWS, `must be at most ${MOST_ROWS}`)
    .transform(Number)
    .default(DEFAULT_LIMIT)
    .meta({
      description: 'Entries per page.',
      examples: [DEFAULT_LIMIT],
      override: { type: 'integer', minimum: 1, maximum: MOST_ROWS, default: DEFAULT_LIMIT },
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
  const message = 'cursor is not from this list. Send the `nextCursor` of its last answer.'
  throw invalidRequest('cursor', message)
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
