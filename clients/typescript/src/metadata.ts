/** Any JSON object of at most 4 kB and 5 levels. The API returns it unchanged. */
export type Metadata = { [field: string]: unknown }
