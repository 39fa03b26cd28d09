/** Formats rows as an aligned table. Returns `none` without rows. */
export function toTable(none: string, names: string[], rows: string[][]): string {
  if (rows.length === 0) return none
  const table = [names, ...rows]
  const widths = names.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)))
  const lines = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}
