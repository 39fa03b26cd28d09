/** Rows per page. The requests of a page are batched, and their results are in memory at once. */
export const PAGE = 100

/** Reads all rows of a table in pages, ordered by the key that `keyOf` returns. */
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
