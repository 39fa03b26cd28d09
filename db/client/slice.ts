import type { Knex } from 'knex'

/** The most rows of a slice. */
export const MOST_ROWS = 100

/** A part of a list: at most `limit` rows with ids before `before`. Ids sort by time. */
export type Slice = { limit: number; before?: string }

/** Restricts a query to a slice, newest first, plus one row that indicates whether more follow. */
export function sliced(query: Knex.QueryBuilder, id: string, { limit, before }: Slice) {
  const rest = before === undefined ? query : query.where(id, '<', before)
  return rest.orderBy(id, 'desc').limit(limit + 1)
}
