import type { ChainName } from '../evm/registry.js'
import type { Supervisor } from './stack/supervise.js'
import type { Ports } from './settings.js'
import type { Home, StateSet } from './state/state.js'
import { sayDone } from './terminal.js'

/** What each part of the stack is started with. */
export type Context = {
  env: NodeJS.ProcessEnv
  home: Home
  set: StateSet
  ports: Ports
  supervisor: Supervisor
  signal: AbortSignal
}

/** Everything one needs to use the stack; also what `dev.json` holds, beside the process ids. */
export type Facts = {
  apiBaseUrl: string
  hostUrl: string
  /** Of each process of the API, the one above first. */
  apiBaseUrls: string[]
  apiKey: string
  /** Token of a link to the dashboard for the owner of the demo account; null when he has a password. */
  invitation: string | null
  temporalUiUrl: string | null
  temporalAddress: string
  temporalNamespace: string
  /** Of a cluster of ours: the connection of its database's owner, and where it shows its counters. */
  temporalCluster: { databaseUrl: string; metricsUrl: string } | null
  databaseUrl: string
  rpcUrls: Record<ChainName, string>
  attestationUrl: string
}

/** Not once the start has failed: what other parts reach while they are ended is no news. */
export function tell({ signal }: Context, name: string, what: string, tookMs: number): void {
  if (!signal.aborted) sayDone(name, what, tookMs)
}
