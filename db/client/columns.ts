/**
 * Column list for a raw SQL statement.
 *
 * @param row - Name of the table, or its alias.
 * @param columns - In knex syntax, such as `min_block as minBlock`.
 * @returns SQL with quoted names, because Postgres folds unquoted ones to lower case.
 */
export const namedColumns = (row: string, columns: string[]): string =>
  columns
    .map((column) => column.split(' as '))
    .map(([column, name = column]) => `${row}.${column} as "${name}"`)
    .join(', ')
