import type { Cell, CsvTable } from '../../../http/csv.js'
import type { Slice } from '../../../../db/client/slice.js'

/** Rows per read. */
const FILE_PAGE = 500

/** A paginated list as a CSV table. `columns`: values of a row by column name. */
export function toCsvTable<Row extends { id: string }>(
  name: string,
  read: (slice: Slice) => Promise<Row[]>,
  columns: Record<string, (row: Row) => Cell>,
): CsvTable {
  return {
    name,
    columns: Object.keys(columns),
    async readPage(after) {
      const found = await read({ limit: FILE_PAGE, ...(after !== undefined && { before: after }) })
      const shown = found.slice(0, FILE_PAGE)
      const rows = shown.map((row) => Object.values(columns).map((cellOf) => cellOf(row)))
      return { rows, next: found.length > FILE_PAGE ? shown.at(-1)?.id : undefined }
    },
  }
}
