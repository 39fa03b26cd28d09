import type { ChainName } from '../evm/registry.js'
import type { Supervisor } from './stack/supervise.js'
import type { Ports } from './settings.js'
import type { Home, StateSet } from './state/state.js'
import { sayDone } from './terminal.js'

/** The input of each part of the stack. */
export type Context = {
  env: NodeJS.ProcessEnv
  home: Home
  set: StateSet
  ports: Ports
  supervisor: Supervisor
  signal: AbortSignal
}

/** All addresses and credentials of the stack. `dev.json` holds them and the process ids. */
export type Facts = {
  apiBaseUrl: string
  hostUrl: string
  /** Addresses of all API processes, `apiBaseUrl` first. */
  apiBaseUrls: string[]
  apiKey: string
  /** Token of a dashboard link for the owner of the demo account; null when they have set a password. */
  invitation: string | null
  temporalUiUrl: string | null
  temporalAddress: string
  temporalNamespace: string
  /** Only with our own Temporal cluster: the owner's connection of its database, and the URL of its metrics. */
  temporalCluster: { databaseUrl: string; metricsUrl: string } | null
  databaseUrl: string
  rpcUrls: Record<ChainName, string>
  attestationUrl: string
}

/** Prints nothing after a failed start: parts may still come up while they are stopped. */
export function report({ signal }: Context, name: string, what: string, tookMs: number): void {
  if (!signal.aborted) sayDone(name, what, tookMs)
}
