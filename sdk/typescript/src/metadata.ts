/** Any JSON object of at most 4 kB and 5 levels. It comes back unchanged. */
export type Metadata = { [field: string]: unknown }
