import { plain } from './text.js'

export type TextColumn<Row> = {
  title: string
  of(row: Row): string
  /** Aligned to the right. */
  isNumber?: boolean
  paint?(text: string, row: Row): string
}

const GAP = '  '

/** The lines of a table: one header and one line per row. Values are never cut, so that they can be copied. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly TextColumn<Row>[],
  paintHead: (text: string) => string,
): string[] {
  const cells = rows.map((row) => columns.map(({ of }) => plain(of(row))))
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)),
  )
  const align = (text: string, at: number): string => {
    const width = widths[at] ?? 0
    if (columns[at]?.isNumber) return text.padStart(width)
    return at === columns.length - 1 ? text : text.padEnd(width)
  }
  const head = columns.map(({ title }, at) => align(title, at)).join(GAP)
  const body = rows.map((row, line) =>
    columns
      .map(({ paint = (text: string) => text }, at) =>
        paint(align(cells[line]?.[at] ?? '', at), row),
      )
      .join(GAP)
      .trimEnd(),
  )
  return [paintHead(head.trimEnd()), ...body]
}

/** One line `name   value` per fact. Absent values are skipped. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | undefined])[],
  paintName: (text: string) => string,
): string[] {
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== undefined)
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paintName(name.padEnd(width))}${GAP}${plain(value)}`)
}
