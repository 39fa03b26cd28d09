import {
  chainFacts,
  chainNames,
  rpcVariable,
  type ChainName,
  type DevnetContracts,
} from '../chains/registry.js'
import { deployChain, fundOperators } from '../devnet/deploy.js'
import { startIris } from '../devnet/iris/iris.js'
import { checkOutsideNode, markChain, readChainMark, settleChain } from './parts/chainState.js'
import { compileServices } from './parts/compile.js'
import { buildBeside } from './parts/dashboard.js'
import { connectionOf, prepareDatabase, readOperators } from './parts/database.js'
import { writeJson } from './state/jsonFile.js'
import {
  createChainPart,
  createPostgresPart,
  createServicePart,
  createTemporalPart,
  replicaName,
  services,
  type Service,
} from './parts/parts.js'
import { findFreePorts, isListening } from './ports.js'
import { readReplicas, readRpcUrls, type Ports } from './settings.js'
import {
  assertSameSet,
  openSecrets,
  TEMPORAL_ON_POSTGRES,
  type Home,
  type StateSet,
} from './state/state.js'
import { type Supervisor } from './parts/supervise.js'
import { findTemporalCli } from './parts/temporalCli.js'
import { createTemporalCluster } from './parts/temporalCluster.js'
import { findTemporalPrograms } from './parts/temporalPrograms.js'
import { Explained, sayDone, sayFailure } from './terminal.js'

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
  databaseUrl: string
  rpcUrls: Record<ChainName, string>
  attestationUrl: string
}

type Contracts = Record<ChainName, DevnetContracts>

/** Starts all parts, those that do not need each other at the same time, and resolves when the API serves. */
export async function bringUp(context: Context): Promise<Facts> {
  const { home, ports } = context
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
  await startServices(context, facts, { contracts: chains.contracts, apiPorts })
  for (const host of [hostUrl, ...otherHosts]) await waitUntilServing(host, home)
  const each = apiPorts.length > 1 ? `, ${apiPorts.length} of each` : ''
  tell(context, 'Services', `api, worker, lanes, signer${each}`, Date.now() - begun)
  return facts
}

type Serving = { contracts: Contracts; apiPorts: number[] }

/** The first process of each role makes what the others find: keys, and what Temporal must know. */
async function startServices(
  context: Context,
  facts: Facts,
  { contracts, apiPorts }: Serving,
): Promise<void> {
  const { home } = context
  const { temporalUiUrl, attestationUrl } = facts
  const settings: Record<Service, (index: number) => NodeJS.ProcessEnv> = {
    signer: () => ({ KEK_FILE: home.kek, LANES_PER_CHAIN: '2' }),
    lanes: () => ({ ATTESTATION_URL: attestationUrl }),
    worker: () => ({ WEBHOOK_KEY_FILE: home.webhookKey }),
    api: (index) => ({
      API_HOST: '127.0.0.1',
      API_PORT: String(apiPorts[index]),
      ...(temporalUiUrl && { TEMPORAL_UI_URL: temporalUiUrl }),
    }),
  }
  for (const index of apiPorts.keys()) {
    const all = services.map(async (service) => {
      const name = replicaName(service, index)
      await startService(context, { service, name, settings: settings[service](index) }, facts)
      if (name === 'signer') await fundAll(facts, contracts)
    })
    await Promise.all(all)
  }
}

/** Not once the start has failed: what other parts reach while they are ended is no news. */
function tell({ signal }: Context, name: string, what: string, tookMs: number): void {
  if (!signal.aborted) sayDone(name, what, tookMs)
}

const TEMPORAL_PORT = 7233
const POSTGRES_PORT = 5432

/** Tells in one line what the clients of these servers would tell in many, and late. */
async function checkListening(variable: string, url: string, standardPort: number): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const address = hostname.replace(/^\[|\]$/g, '')
  if (await isListening(address, Number(port) || standardPort)) return
  throw new Explained(`${variable} (${host}) does not answer. Start it, or unset ${variable}.`)
}

type DatabaseFacts = Pick<Facts, 'databaseUrl' | 'apiKey' | 'invitation'>

/** Nothing else needs it: without it the API says how it is built. */
async function bringUpDashboard(context: Context): Promise<void> {
  const begun = Date.now()
  const built = await buildBeside().catch((error: unknown) => sayFailure(error))
  if (built === true) tell(context, 'Dashboard', 'built', Date.now() - begun)
}

async function bringUpDatabase(context: Context): Promise<DatabaseFacts> {
  const { env, home, set, supervisor } = context
  const begun = Date.now()
  const secrets = openSecrets(home)
  if (env.DATABASE_URL) {
    await checkListening('DATABASE_URL', env.DATABASE_URL, POSTGRES_PORT)
    const demo = await prepareDatabase(env.DATABASE_URL, home, set, secrets)
    tell(context, 'Postgres', set.places.postgres, Date.now() - begun)
    return { databaseUrl: env.DATABASE_URL, ...demo }
  }
  const [port = 0] = await findFreePorts(1)
  const postgres = createPostgresPart({ name: 'postgres', dir: home.postgres, port })
  await supervisor.start(postgres)
  const demo = await prepareDatabase(postgres.url(), home, set, secrets)
  const isInside = postgres.folder() === home.postgres
  const where = isInside ? 'embedded' : `embedded, data in ${postgres.folder()}`
  tell(context, 'Postgres', where, Date.now() - begun)
  return { databaseUrl: postgres.url(), ...demo }
}

type TemporalFacts = Pick<Facts, 'temporalAddress' | 'temporalNamespace' | 'temporalUiUrl'>

async function bringUpTemporal(context: Context): Promise<TemporalFacts> {
  const { env, home, set, ports, supervisor, signal } = context
  const begun = Date.now()
  const temporalNamespace = env.TEMPORAL_NAMESPACE ?? 'default'
  if (env.TEMPORAL_ADDRESS) {
    await checkListening('TEMPORAL_ADDRESS', `tcp://${env.TEMPORAL_ADDRESS}`, TEMPORAL_PORT)
    tell(context, 'Temporal', env.TEMPORAL_ADDRESS, Date.now() - begun)
    return {
      temporalAddress: env.TEMPORAL_ADDRESS,
      temporalNamespace,
      temporalUiUrl: env.TEMPORAL_UI_URL ?? null,
    }
  }
  const cli = await findTemporalCli({ env, signal })
  const { temporal, temporalUi: ui } = ports
  const temporalAddress = `127.0.0.1:${temporal}`
  if (set.places.temporal === TEMPORAL_ON_POSTGRES) {
    const programs = await findTemporalPrograms({ env, signal })
    const options = { programs, cli, home, port: temporal, namespace: temporalNamespace }
    const { database, server } = await createTemporalCluster(options)
    await supervisor.start(database)
    await supervisor.start(server)
    tell(context, 'Temporal', 'temporal-server on a Postgres of its own', Date.now() - begun)
    return { temporalAddress, temporalNamespace, temporalUiUrl: env.TEMPORAL_UI_URL ?? null }
  }
  await supervisor.start(createTemporalPart(cli, home, { temporal, ui }))
  tell(context, 'Temporal', `dev server, CLI ${cli.source}`, Date.now() - begun)
  return { temporalAddress, temporalNamespace, temporalUiUrl: `http://127.0.0.1:${ui}` }
}

async function bringUpChains(
  context: Context,
): Promise<{ facts: Pick<Facts, 'rpcUrls' | 'attestationUrl'>; contracts: Contracts }> {
  const begun = Date.now()
  const chains = await Promise.all(
    chainNames.map(async (name) => {
      const url = await startChain(context, name)
      const mark = await readChainMark(url)
      assertSameSet(`The chain ${name}`, mark, context.set)
      return [name, url, await prepareChain(context, name, url)] as const
    }),
  )
  const contracts = Object.fromEntries(chains.map(([name, , made]) => [name, made])) as Contracts
  const urls = chains.map(([name, url]) => [name, url])
  const rpcUrls = Object.fromEntries(urls) as Record<ChainName, string>
  writeJson(context.home.contracts, contracts)
  const attestationUrl = await startAttesting(context, rpcUrls, contracts)
  tell(context, 'Chains', chainNames.join(', '), Date.now() - begun)
  return { facts: { rpcUrls, attestationUrl }, contracts }
}

/** The attestation service runs in this process and ends with it, as the mining does; unless there is one already. */
async function startAttesting(
  { env, ports }: Context,
  rpcUrls: Record<ChainName, string>,
  contracts: Contracts,
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
  await supervisor.start(createChainPart(name, chainId, home, ports[name]))
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

/** A chain that was killed may have lost its last seconds: what was prepared in them is prepared again. */
export async function repairChain(
  context: ChainContext,
  name: ChainName,
  facts: Facts,
): Promise<void> {
  const contracts = await prepareChain(context, name, facts.rpcUrls[name])
  await fundChain(name, facts, contracts, await readOperators(facts.databaseUrl))
}

async function fundAll(facts: Facts, contracts: Contracts): Promise<void> {
  const operators = await readOperators(facts.databaseUrl)
  await Promise.all(chainNames.map((name) => fundChain(name, facts, contracts[name], operators)))
}

type AllOperators = Awaited<ReturnType<typeof readOperators>>

async function fundChain(
  name: ChainName,
  facts: Facts,
  contracts: DevnetContracts,
  { lanes, treasury }: AllOperators,
): Promise<void> {
  const own = lanes.filter(({ chainId }) => Number(chainId) === chainFacts[name].chainId)
  const paysOut = name === 'arbitrum-sepolia' && treasury !== undefined
  await fundOperators(facts.rpcUrls[name], contracts, {
    lanes: own.map(({ sender }) => sender),
    ...(paysOut && { treasury }),
  })
}

type Replica = { service: Service; name: string; settings: NodeJS.ProcessEnv }

async function startService(
  { env, home, supervisor }: Context,
  { service, name, settings }: Replica,
  facts: Facts,
): Promise<void> {
  const secrets = openSecrets(home)
  const rpcUrls = chainNames.map((name) => {
    const outside = readRpcUrls(env, name).join()
    return [rpcVariable(name), outside || facts.rpcUrls[name]] as const
  })
  const directUrl = (env.DATABASE_URL && env.DATABASE_URL_DIRECT) || facts.databaseUrl
  const common: NodeJS.ProcessEnv = {
    NETWORK: 'devnet',
    LOG_LEVEL: env.LOG_LEVEL ?? 'info',
    DATABASE_URL: connectionOf(facts.databaseUrl, service, secrets[service]),
    DATABASE_URL_DIRECT: connectionOf(directUrl, service, secrets[service]),
    DEVNET_FILE: home.contracts,
    TEMPORAL_ADDRESS: facts.temporalAddress,
    TEMPORAL_NAMESPACE: facts.temporalNamespace,
    ...(Object.fromEntries(rpcUrls) as Record<string, string>),
  }
  await supervisor.start(createServicePart({ service, name }, { ...common, ...settings }, home))
}

/** The API waits for the signer's public key and the worker's schema; it has both within a second. */
const SERVING_TIMEOUT_MS = 30_000

async function waitUntilServing(hostUrl: string, home: Home): Promise<void> {
  const deadline = Date.now() + SERVING_TIMEOUT_MS
  for (;;) {
    const answer = await fetch(`${hostUrl}/readyz`).catch(() => undefined)
    const state = answer && (await answer.text())
    if (answer?.ok && state?.includes('"degraded":false')) return
    if (Date.now() > deadline) {
      const reason = state ?? 'no answer'
      throw new Explained(
        `The API does not become ready: ${reason.slice(0, 300)}. See ${home.log('api')}`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
