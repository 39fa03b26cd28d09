import { chainNames, rpcVariable, type ChainName } from '../evm/registry.js'
import { devnetTerms, portVariable } from './devnet/chains.js'
import { readPort, type PortChoice } from './ports.js'
import { MAX_REPLICAS } from './stack/parts.js'
import { TEMPORAL_ON_POSTGRES, type Places } from './state/state.js'
import { UserError } from './terminal.js'

type PortKey = 'api' | 'temporal' | 'temporalUi' | 'iris' | ChainName
export type Ports = Record<PortKey, number>

/** The parts that are given from outside, without the credentials in their addresses. */
export function readPlaces(env: NodeJS.ProcessEnv): Places {
  const chains = chainNames.map((name) => {
    const variable = rpcVariable(name)
    const hosts = readRpcUrls(env, name).map((url) => describeUrl(url, variable))
    return [name, hosts.join(', ') || 'embedded'] as const
  })
  return {
    postgres: env.DATABASE_URL ? describeUrl(env.DATABASE_URL, 'DATABASE_URL') : 'embedded',
    temporal: readTemporalPlace(env),
    ...(Object.fromEntries(chains) as Record<ChainName, string>),
  }
}

function readTemporalPlace({ TEMPORAL_ADDRESS, TEMPORAL_STORE }: NodeJS.ProcessEnv): string {
  if (TEMPORAL_ADDRESS) return describeUrl(`tcp://${TEMPORAL_ADDRESS}`, 'TEMPORAL_ADDRESS')
  if (!TEMPORAL_STORE || TEMPORAL_STORE === 'sqlite') return 'embedded'
  if (TEMPORAL_STORE === 'postgres') return TEMPORAL_ON_POSTGRES
  throw new UserError(`TEMPORAL_STORE=${TEMPORAL_STORE} is neither sqlite nor postgres.`)
}

/**
 * Processes per role: `REPLICAS`, default 1.
 * @throws {UserError} when `REPLICAS` is not a number from 1 to 8.
 */
export function readReplicas({ REPLICAS = '1' }: NodeJS.ProcessEnv): number {
  const count = Number(REPLICAS)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_REPLICAS) return count
  throw new UserError(`REPLICAS=${REPLICAS} is not a number from 1 to ${MAX_REPLICAS}.`)
}

const LONGEST_STATE_SECONDS = 86_400

/**
 * Seconds between two state dumps of the devnet's nodes: `DEVNET_STATE_SECONDS`. Undefined: the default of the nodes.
 *
 * @throws {UserError} when it is not a number from 1 to 86400.
 */
export function readStateInterval({
  DEVNET_STATE_SECONDS: text,
}: NodeJS.ProcessEnv): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_STATE_SECONDS) return seconds
  throw new UserError(
    `DEVNET_STATE_SECONDS=${text} is not a number from 1 to ${LONGEST_STATE_SECONDS}.`,
  )
}

/** The nodes of a chain that is given from outside, the preferred one first. */
export const readRpcUrls = (env: NodeJS.ProcessEnv, name: ChainName): string[] =>
  (env[rpcVariable(name)] ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter(Boolean)

function describeUrl(url: string, variable: string): string {
  if (!URL.canParse(url)) throw new UserError(`${variable} is not an address.`)
  const { host, pathname } = new URL(url)
  return variable === 'DATABASE_URL' ? `${host}${pathname}` : host
}

/** The ports that the user can choose. A part from outside needs none, so it gets any free port. */
export function readPortChoices(
  env: NodeJS.ProcessEnv,
  places: Places,
): Record<PortKey, PortChoice> {
  const choose = (name: string, variable: string, port: number, place = 'embedded') =>
    place.startsWith('embedded') ? readPort(env, name, variable, port) : { name, variable, port: 0 }
  const chains = chainNames.map((name) => {
    const variable = portVariable(name)
    return [name, choose(name, variable, devnetTerms[name].port, places[name])] as const
  })
  return {
    api: choose('API', 'API_PORT', 3000),
    temporal: choose('Temporal', 'TEMPORAL_PORT', 7233, places.temporal),
    temporalUi: choose('Temporal UI', 'TEMPORAL_UI_PORT', 8233, places.temporal),
    iris: choose('attestations', 'IRIS_PORT', 8548, env.ATTESTATION_URL || 'embedded'),
    ...(Object.fromEntries(chains) as Record<ChainName, PortChoice>),
  }
}
