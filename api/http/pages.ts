import { z } from 'zod'
import { safeText } from '../schemas/safeText.js'
import { invalidRequest } from '../../domain/errors.js'
import { MOST_ROWS, type Slice } from '../../db/client/slice.js'

const DEFAULT_LIMIT = 20

/** Pagination parameters of every list. */
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
  cursor: safeText(128).optional().meta({ description: 'The `nextCursor` of the previous page.' }),
}

/**
 * The slice that a list's query selects.
 *
 * @param ids - Pattern of the list's ids. A cursor of another list is rejected.
 * @throws {ServiceError} INVALID_REQUEST when the cursor is not from this list.
 */
export function toSlice(query: { limit: number; cursor?: string | undefined }, ids: RegExp): Slice {
  const { limit, cursor } = query
  if (cursor === undefined) return { limit }
  const before = Buffer.from(cursor, 'base64url').toString()
  if (ids.test(before) && cursorOf(before) === cursor) return { limit, before }
  const message = 'cursor is not from this list. Send the `nextCursor` of a page of this list.'
  throw invalidRequest('cursor', message)
}

/**
 * The body of a list's page.
 *
 * @param rows - One more than the slice's limit when there is a next page.
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
