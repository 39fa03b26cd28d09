/** Rows that are compared in one go: what they need stays in memory, and their questions travel together. */
export const PAGE = 100

/** All rows of a table, a page at a time, by the column that `keyOf` tells. */
export async function* pagesOf<Row>(
  read: (page: { after: string; limit: number }) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row[]> {
  let after = ''
  for (;;) {
    const rows = await read({ after, limit: PAGE })
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    after = keyOf(last)
  }
}
