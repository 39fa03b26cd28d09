/** An array as Postgres reads it: JSON with braces. The driver's own way takes five times as long. */
export const arrayText = (values: (string | number | boolean | null | undefined)[]): string =>
  `{${JSON.stringify(values).slice(1, -1)}}`
