import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connectChains, type Chains } from '../evm/connect.js'
import { createRegistry, rpcVariable, type ChainName, type Registry } from '../evm/registry.js'
import { loadConfig } from '../runtime/config.js'
import { ServiceError } from '../domain/errors.js'

/** The connections of a deployment. `databaseUrl`: empty without a configured database. */
export type Deployment = {
  registry: Registry
  chains: Chains
  databaseUrl: string
  temporal: [address: string, namespace: string]
}

/**
 * Runs a command on the chains of the service's settings, otherwise on those of a running `npm start`.
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

type RunningStack = {
  databaseUrl: string
  temporalAddress: string
  rpcUrls: Record<ChainName, string>
}

/** Uses either the environment or the running stack, never a mix: database and chains must belong together. */
function findSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.NETWORK || env.DATABASE_URL) return env
  const home = path.resolve(env.STEWARD_HOME || '.steward')
  const stack = readRunningStack(path.join(home, 'dev.json'))
  const nodes = Object.entries(stack.rpcUrls).map(([name, url]) => {
    return [rpcVariable(name as ChainName), url]
  })
  return {
    ...{ NETWORK: 'devnet', DEVNET_FILE: path.join(home, 'devnet.json') },
    ...{ DATABASE_URL: stack.databaseUrl, TEMPORAL_ADDRESS: stack.temporalAddress },
    ...(Object.fromEntries(nodes) as NodeJS.ProcessEnv),
  }
}

function readRunningStack(file: string): RunningStack {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunningStack
  } catch {
    throw new ServiceError(
      'MISCONFIGURED',
      'NETWORK is not set and npm start is not running. Set NETWORK, or run npm start.',
    )
  }
}
