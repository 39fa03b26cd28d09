import { once } from 'node:events'
import type { Response } from 'express'

/** Content of a cell. Text that a spreadsheet would evaluate as a formula is escaped. Numbers are not. */
export type Cell = string | number | bigint | Date | null

/** Characters that start a formula in a spreadsheet, or that it skips before one. */
const formula = /^[=+\-@\t\r]/
const special = /[",\r\n]/

/** A line of a table. @see https://www.rfc-editor.org/rfc/rfc4180 */
const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell !== 'string') return String(cell)
  // A leading apostrophe makes a spreadsheet show the text.
  const harmless = formula.test(cell) ? `'${cell}` : cell
  return special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Rows of one page, and the id after which the next page starts; undefined on the last page. */
export type CsvPage = { rows: Cell[][]; next: string | undefined }

export type CsvTable = {
  /** File name without extension. */
  name: string
  columns: readonly string[]
  /** Reads the page after an id, the first page without one. */
  readPage(after: string | undefined): Promise<CsvPage>
}

/**
 * Sends a table page by page at the speed of the client, with at most one page in memory. When a page fails, the
 * connection is closed, so that the client notices the incomplete file.
 */
export async function sendCsv(
  response: Response,
  { name, columns, readPage }: CsvTable,
): Promise<void> {
  // Before the headers are sent, an error can still have the documented body.
  let page = await readPage(undefined)
  response.setHeader('Content-Type', 'text/csv; charset=utf-8')
  response.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`)
  response.write(csvLine(columns))
  try {
    for (;;) {
      const isFlushed = response.write(page.rows.map(csvLine).join(''))
      if (page.next === undefined || response.closed) break
      if (!isFlushed) await Promise.race([once(response, 'drain'), once(response, 'close')])
      page = await readPage(page.next)
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}
