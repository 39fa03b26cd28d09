/** Counters of the processes of a Temporal cluster: requests by role, such as `requests of frontend`. */
export type Counts = Map<string, number>

/** @see https://docs.temporal.io/references/cluster-metrics */
const counted: Record<string, string> = {
  service_requests: 'requests of',
  persistence_requests: 'database requests of',
  service_errors_resource_exhausted: 'requests refused by',
}

/** Reads the Prometheus counters of a server. */
export async function readCounts(url: string): Promise<Counts> {
  const text = await (await fetch(url)).text()
  const counts: Counts = new Map()
  for (const line of text.split('\n')) {
    const [, metric = '', labels = '', value] = /^(\w+?)(?:_total)?\{(.*)\} (\S+)$/.exec(line) ?? []
    const what = counted[metric]
    if (!what) continue
    const [, role = 'server'] = /(?:^|,)service_name="([^"]+)"/.exec(labels) ?? []
    const name = `${what} ${role}`
    counts.set(name, (counts.get(name) ?? 0) + Number(value))
  }
  return counts
}
