import { z } from 'zod'
import { MOST_ROWS, type Slice } from '../../db/client/slice.js'

const DEFAULT_LIMIT = 20

/**
 * Pagination parameters of a list.
 *
 * @param ids - Pattern of the list's ids. A cursor is the last id of a page, and that of another list is rejected.
 */
export const pageQuery = (ids: RegExp) => ({
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
  cursor: z
    .string()
    .regex(ids, 'is not from this list. Send the `nextCursor` of a page of this list')
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page.' }),
})

type PageQuery = { limit: number; cursor?: string | undefined }

/** The slice that a list's query selects. */
export const toSlice = ({ limit, cursor }: PageQuery): Slice =>
  cursor === undefined ? { limit } : { limit, before: cursor }

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
    nextCursor: hasMore && last ? last.id : null,
  }
}
