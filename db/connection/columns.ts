/**
 * Columns for a statement of our own.
 *
 * @param row - What they are columns of, such as the name of a table.
 * @param columns - As knex takes them, such as `min_block as minBlock`.
 * @returns SQL, with the names quoted, or Postgres would fold them to lower case.
 */
export const namedColumns = (row: string, columns: string[]): string =>
  columns
    .map((column) => column.split(' as '))
    .map(([column, name = column]) => `${row}.${column} as "${name}"`)
    .join(', ')
