import { plain } from './text.js'

export type Column<Row> = {
  title: string
  of(row: Row): string
  /** Aligned by the right edge. */
  isNumber?: boolean
  paint?(text: string, row: Row): string
}

const GAP = '  '

/** Lines of a table: a head, and a line a row. Nothing is cut: what is wide can be copied whole. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
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

/** `name   value`, a line each; values that are absent are left out. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | undefined])[],
  paintName: (text: string) => string,
): string[] {
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== undefined)
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paintName(name.padEnd(width))}${GAP}${plain(value)}`)
}
