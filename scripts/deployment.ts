import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connectChains, type Chains } from '../chains/connect.js'
import { createRegistry, rpcVariable, type ChainName, type Registry } from '../chains/registry.js'
import { loadConfig } from '../config.js'
import { ServiceError } from '../domain/errors.js'

/** Chains of a deployment, its database, empty where none is named, and Temporal's address and namespace. */
export type Deployment = {
  registry: Registry
  chains: Chains
  databaseUrl: string
  temporal: [address: string, namespace: string]
}

/**
 * Runs an operator's work on the chains that the settings of the service name, else on those of a running
 * `npm start`.
 *
 * @throws {ServiceError} MISCONFIGURED, without a URL in its message.
 */
export async function useDeployment<Result>(
  env: NodeJS.ProcessEnv,
  work: (deployment: Deployment) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig('operator', findSettings(env))
  const registry = createRegistry(config.NETWORK, config.DEVNET_FILE)
  const chains = connectChains(registry, config.rpcUrls)
  try {
    const temporal: Deployment['temporal'] = [config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE]
    return await work({ registry, chains, databaseUrl: config.DATABASE_URL, temporal })
  } finally {
    for (const client of chains.list) client.close()
  }
}

type Facts = {
  databaseUrl: string
  temporalAddress: string
  rpcUrls: Record<ChainName, string>
}

/** One database with the chains of another stack would be neither. */
function findSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.NETWORK || env.DATABASE_URL) return env
  const home = path.resolve(env.STEWARD_HOME || '.steward')
  const facts = readFacts(path.join(home, 'dev.json'))
  const nodes = Object.entries(facts.rpcUrls).map(([name, url]) => {
    return [rpcVariable(name as ChainName), url]
  })
  return {
    ...{ NETWORK: 'devnet', DEVNET_FILE: path.join(home, 'devnet.json') },
    ...{ DATABASE_URL: facts.databaseUrl, TEMPORAL_ADDRESS: facts.temporalAddress },
    ...(Object.fromEntries(nodes) as NodeJS.ProcessEnv),
  }
}

function readFacts(file: string): Facts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Facts
  } catch {
    throw new ServiceError('MISCONFIGURED', 'NETWORK is not set, and no npm start runs here.')
  }
}
