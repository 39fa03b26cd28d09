import { chainFacts, chainNames, rpcVariable, type ChainName } from '../evm/registry.js'
import { deployChain, fundOperators } from './devnet/deploy.js'
import { startIris } from './devnet/iris/iris.js'
import { report, type Context, type Facts } from './context.js'
import { checkOutsideNode, markChain, readChainMark, settleChain } from './stack/chainState.js'
import { compileServices } from './stack/compile.js'
import { buildBeside } from './stack/dashboard.js'
import { prepareDatabase, readOperators } from './stack/database.js'
import { createChainPart, createPostgresPart } from './stack/parts.js'
import { assertListening, findFreePorts } from './ports.js'
import { startServices } from './services.js'
import { readReplicas, readRpcUrls, readStateInterval } from './settings.js'
import { writeJson } from './state/jsonFile.js'
import { assertSameSet, openSecrets } from './state/state.js'
import { bringUpTemporal } from './temporal.js'
import { printFailure } from './terminal.js'
import type { DevnetContracts, ContractsByChain } from '../evm/devnetFile.js'
import type { Devnet } from './state/openDevnet.js'

/** Starts all parts, independent ones concurrently. Resolves when the API serves. */
export async function bringUp(context: Context): Promise<Devnet> {
  const { ports } = context
  const [database, temporal, chains] = await Promise.all([
    bringUpDatabase(context),
    bringUpTemporal(context),
    bringUpChains(context),
    compileServices(),
    bringUpDashboard(context),
  ])
  const apiPorts = [ports.api, ...(await findFreePorts(readReplicas(context.env) - 1))]
  const [hostUrl = '', ...otherHosts] = apiPorts.map((port) => `http://127.0.0.1:${port}`)
  const apiBaseUrls = [hostUrl, ...otherHosts].map((host) => `${host}/v1`)
  const facts = {
    apiBaseUrl: `${hostUrl}/v1`,
    hostUrl,
    apiBaseUrls,
    ...database,
    ...temporal,
    ...chains.facts,
  }
  const begun = Date.now()
  await startServices(context, facts, {
    apiPorts,
    onSigner: () => fundAll({ facts, contracts: chains.contracts }),
  })
  const each = apiPorts.length > 1 ? `, ${apiPorts.length} of each` : ''
  report(context, 'Services', `api, worker, relayer, signer${each}`, Date.now() - begun)
  return { facts, contracts: chains.contracts }
}

const POSTGRES_PORT = 5432

type DatabaseFacts = Pick<Facts, 'databaseUrl' | 'apiKey' | 'invitation'>

/** Nothing depends on the dashboard. Without a build the API answers with build instructions. */
async function bringUpDashboard(context: Context): Promise<void> {
  const begun = Date.now()
  const built = await buildBeside().catch((error: unknown) => printFailure(error))
  if (built === true) report(context, 'Dashboard', 'built', Date.now() - begun)
}

async function bringUpDatabase(context: Context): Promise<DatabaseFacts> {
  const { env, home, set, supervisor } = context
  const begun = Date.now()
  const secrets = openSecrets(home)
  if (env.DATABASE_URL) {
    await assertListening('DATABASE_URL', env.DATABASE_URL, POSTGRES_PORT)
    const demo = await prepareDatabase(env.DATABASE_URL, home, set, secrets)
    report(context, 'Postgres', set.places.postgres, Date.now() - begun)
    return { databaseUrl: env.DATABASE_URL, ...demo }
  }
  const [port = 0] = await findFreePorts(1)
  const postgres = createPostgresPart({ name: 'postgres', dir: home.postgres, port })
  await supervisor.start(postgres)
  const demo = await prepareDatabase(postgres.url(), home, set, secrets)
  const isInside = postgres.folder() === home.postgres
  const where = isInside ? 'embedded' : `embedded, data in ${postgres.folder()}`
  report(context, 'Postgres', where, Date.now() - begun)
  return { databaseUrl: postgres.url(), ...demo }
}

async function bringUpChains(
  context: Context,
): Promise<{ facts: Pick<Facts, 'rpcUrls' | 'attestationUrl'>; contracts: ContractsByChain }> {
  const begun = Date.now()
  const chains = await Promise.all(
    chainNames.map(async (name) => {
      const url = await startChain(context, name)
      const mark = await readChainMark(url)
      assertSameSet(`The chain ${name}`, mark, context.set)
      return [name, url, await prepareChain(context, name, url)] as const
    }),
  )
  const contracts = Object.fromEntries(
    chains.map(([name, , made]) => [name, made]),
  ) as ContractsByChain
  const urls = chains.map(([name, url]) => [name, url])
  const rpcUrls = Object.fromEntries(urls) as Record<ChainName, string>
  writeJson(context.home.contracts, contracts)
  const attestationUrl = await startAttesting(context, rpcUrls, contracts)
  report(context, 'Chains', chainNames.join(', '), Date.now() - begun)
  return { facts: { rpcUrls, attestationUrl }, contracts }
}

/**
 * The attestation service and the miner run in this process and end with it, unless the service is given from
 * outside.
 */
async function startAttesting(
  { env, ports }: Context,
  rpcUrls: Record<ChainName, string>,
  contracts: ContractsByChain,
): Promise<string> {
  if (env.ATTESTATION_URL) return env.ATTESTATION_URL
  const chains = chainNames.map((name) => ({
    domain: chainFacts[name].domain,
    rpcUrl: rpcUrls[name],
    transmitter: contracts[name].messageTransmitter,
  }))
  const { url } = await startIris({ chains, port: ports.iris })
  return url
}

async function startChain(context: Context, name: ChainName): Promise<string> {
  const { env, home, ports, supervisor } = context
  const outside = readRpcUrls(env, name)
  const { chainId } = chainFacts[name]
  for (const url of outside) await checkOutsideNode(name, chainId, rpcVariable(name), url)
  if (outside[0]) return outside[0]
  const options = { chainId, port: ports[name], stateIntervalSeconds: readStateInterval(env) }
  await supervisor.start(createChainPart(name, home, options))
  return `http://127.0.0.1:${ports[name]}`
}

type ChainContext = Pick<Context, 'home' | 'set'>

async function prepareChain(
  { home, set }: ChainContext,
  name: ChainName,
  url: string,
): Promise<DevnetContracts> {
  const contracts = await deployChain(name, url)
  await markChain(url, set.id)
  if (set.places[name] === 'embedded') await settleChain(url, home.chain(name))
  return contracts
}

/** A killed chain may have lost its last seconds of blocks. Preparation repeats the lost transactions. */
export async function repairChain(
  context: ChainContext,
  name: ChainName,
  facts: Facts,
): Promise<void> {
  const contracts = await prepareChain(context, name, facts.rpcUrls[name])
  await fundChain(name, facts, contracts, await readOperators(facts.databaseUrl))
}

async function fundAll({ facts, contracts }: Devnet): Promise<void> {
  const operators = await readOperators(facts.databaseUrl)
  await Promise.all(chainNames.map((name) => fundChain(name, facts, contracts[name], operators)))
}

type AllOperators = Awaited<ReturnType<typeof readOperators>>

async function fundChain(
  name: ChainName,
  facts: Facts,
  contracts: DevnetContracts,
  { senders, treasury }: AllOperators,
): Promise<void> {
  const own = senders.filter(({ chainId }) => Number(chainId) === chainFacts[name].chainId)
  const paysOut = name === 'arbitrum-sepolia' && treasury !== undefined
  await fundOperators(facts.rpcUrls[name], contracts, {
    senders: own.map(({ sender }) => sender),
    ...(paysOut && { treasury }),
  })
}
