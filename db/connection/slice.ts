import type { Knex } from 'knex'

/** No slice has more rows. */
export const MOST_ROWS = 100

/** A part of a list: at most `limit` rows whose ids come before `before`. Ids sort by time. */
export type Slice = { limit: number; before?: string }

/** Restricts a query to a slice, newest first, and one row more, which tells that others follow. */
export function sliced(query: Knex.QueryBuilder, id: string, slice: Slice) {
  return newestBefore(query, id, slice).limit(slice.limit + 1)
}

/**
 * As `sliced`, for `selectFirst`, which is told how many rows are wanted. The text names as many as any slice may have: a
 * plan for all values knows by it how few there are, and Postgres keeps that plan, where it made one for each call.
 */
export function slicedInWords(query: Knex.QueryBuilder, id: string, slice: Slice) {
  return newestBefore(query, id, slice).limit(MOST_ROWS + 1, IN_WORDS)
}

/** Of a limit: it is part of the text, and no value. */
export const IN_WORDS = { skipBinding: true }

function newestBefore(query: Knex.QueryBuilder, id: string, { before }: Slice) {
  const rest = before === undefined ? query : query.where(id, '<', before)
  return rest.orderBy(id, 'desc')
}
