import { readFileSync } from 'node:fs'
import { openHome } from '../../dev/state/state.js'
import { replicaName, services, type Service } from '../../dev/stack/parts.js'
import type { Stack } from '../../test/e2e/stack.js'

/** Work of each process, by role. */
export type Shares = Record<Service, Map<string, number>>

type ServiceLogLine = {
  time: number
  msg?: string
  path?: string
  status?: number
  operations?: string[]
}

/** Counted work, from the log of a process: accepted intents, signed operations, sent transactions. */
const counted: Partial<Record<Service, (line: ServiceLogLine) => number>> = {
  api: ({ msg, path, status }) => Number(msg === 'request' && path === INTENTS && status === 201),
  signer: ({ msg, operations }) => (msg === 'bundle signed' ? (operations?.length ?? 0) : 0),
  relayer: ({ msg }) => Number(msg === 'transaction broadcast'),
}
const INTENTS = '/v1/intents'

type ShareQuery = {
  replicas: number
  /** Unix time, ms. */
  since: number
  /** Step attempts by the worker process that began them. */
  attempts: Map<string, number>
}

/** Reads the work of each process since a time. */
export function readShares({ home }: Stack, { replicas, since, attempts }: ShareQuery): Shares {
  const folder = openHome({ STEWARD_HOME: home })
  const entries = services.map((service) => {
    const names = Array.from({ length: replicas }, (_, i) => replicaName(service, i))
    const count = counted[service]
    const done = names.map((name) => {
      if (!count) return [name, attempts.get(name) ?? 0] as const
      const lines = readLines(folder.log(name)).filter(({ time }) => time >= since)
      return [name, lines.reduce((sum, line) => sum + count(line), 0)] as const
    })
    return [service, new Map(done)] as const
  })
  return Object.fromEntries(entries) as Shares
}

/** The process of a role with the most work. */
export const busiest = (shares: Shares, service: Service): string =>
  [...shares[service]].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''

function readLines(file: string): ServiceLogLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        return [JSON.parse(text) as ServiceLogLine]
      } catch {
        // A cut-off line of a killed process, or output of the program that runs it.
        return []
      }
    })
}
