import { once } from 'node:events'
import type { Response } from 'express'

/** What a cell shows. Numbers stay numbers; of text nothing is left that a spreadsheet would calculate. */
export type Cell = string | number | bigint | Date | null

/** What a spreadsheet takes for the beginning of a formula, or skips before one. */
const formula = /^[=+\-@\t\r]/
const special = /[",\r\n]/

/** A line of a table. @see https://www.rfc-editor.org/rfc/rfc4180 */
const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell !== 'string') return String(cell)
  // With an apostrophe before it, it is shown and not calculated.
  const harmless = formula.test(cell) ? `'${cell}` : cell
  return special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Rows of one page of a table, and the id after which the next one begins; undefined: there is none. */
export type CsvPage = { rows: Cell[][]; next: string | undefined }

export type CsvTable = {
  /** Of the file, without its ending. */
  name: string
  columns: readonly string[]
  /** The first page, and the one after an id. */
  readPage(after: string | undefined): Promise<CsvPage>
}

/**
 * Sends a table page by page, as fast as it is read at the other end, so that no more than a page is held. When a page
 * fails the file breaks off, and the reader is told so by the connection.
 */
export async function sendCsv(
  response: Response,
  { name, columns, readPage }: CsvTable,
): Promise<void> {
  // Before anything is sent: what fails here is answered as any error is.
  let page = await readPage(undefined)
  response.setHeader('Content-Type', 'text/csv; charset=utf-8')
  response.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`)
  response.write(csvLine(columns))
  try {
    for (;;) {
      const isTaken = response.write(page.rows.map(csvLine).join(''))
      if (page.next === undefined || response.closed) break
      if (!isTaken) await Promise.race([once(response, 'drain'), once(response, 'close')])
      page = await readPage(page.next)
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}
