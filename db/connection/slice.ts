import type { Knex } from 'knex'

/** No slice has more rows. */
export const MOST_ROWS = 100

/** A part of a list: at most `limit` rows whose ids come before `before`. Ids sort by time. */
export type Slice = { limit: number; before?: string }

/** Restricts a query to a slice, newest first, and one row more, which tells that others follow. */
export function sliced(query: Knex.QueryBuilder, id: string, { limit, before }: Slice) {
  const rest = before === undefined ? query : query.where(id, '<', before)
  return rest.orderBy(id, 'desc').limit(limit + 1)
}
