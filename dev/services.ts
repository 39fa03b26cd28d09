import { chainNames, rpcVariable } from '../evm/registry.js'
import { type Context, type Facts } from './context.js'
import { connectionOf } from './stack/database.js'
import { createServicePart, replicaName, services, type Service } from './stack/parts.js'
import { readRpcUrls } from './settings.js'
import { openSecrets, type Home } from './state/state.js'
import { UserError } from './terminal.js'

type ServicesOptions = {
  /** One port per API process. */
  apiPorts: number[]
  /** Called once the signer has created its keys. */
  onSigner(): Promise<void>
}

/**
 * Starts the services. Resolves when each API process serves. The first process of each role creates what the others
 * need: keys, and search attributes in Temporal.
 */
export async function startServices(
  context: Context,
  facts: Facts,
  { apiPorts, onSigner }: ServicesOptions,
): Promise<void> {
  const { home } = context
  const settings: Record<Service, (index: number) => NodeJS.ProcessEnv> = {
    signer: () => ({ KEK_FILE: home.kek, SENDERS_PER_CHAIN: '2' }),
    relayer: () => ({ ATTESTATION_URL: facts.attestationUrl }),
    worker: () => ({ WEBHOOK_KEY_FILE: home.webhookKey, PUBLIC_URL: facts.hostUrl }),
    api: (index) => apiSettings(facts, apiPorts[index] ?? 0),
  }
  for (const index of apiPorts.keys()) {
    const all = services.map(async (service) => {
      const name = replicaName(service, index)
      await startService(context, { service, name, settings: settings[service](index) }, facts)
      if (name === 'signer') await onSigner()
    })
    await Promise.all(all)
    await waitUntilServing(`http://127.0.0.1:${apiPorts[index]}`, home)
  }
}

type Replica = { service: Service; name: string; settings: NodeJS.ProcessEnv }

async function startService(
  context: Context,
  { service, name, settings }: Replica,
  facts: Facts,
): Promise<void> {
  const env = { ...commonEnv(context, service, facts), ...settings }
  await context.supervisor.start(createServicePart({ service, name }, env, context.home))
}

/** The settings of another API process on a port. */
export const apiEnv = (context: Context, facts: Facts, port: number): NodeJS.ProcessEnv => ({
  ...commonEnv(context, 'api', facts),
  ...apiSettings(facts, port),
})

const apiSettings = ({ temporalUiUrl }: Facts, port: number): NodeJS.ProcessEnv => ({
  API_HOST: '127.0.0.1',
  API_PORT: String(port),
  ...(temporalUiUrl && { TEMPORAL_UI_URL: temporalUiUrl }),
})

function commonEnv({ env, home }: Context, service: Service, facts: Facts): NodeJS.ProcessEnv {
  const secrets = openSecrets(home)
  const rpcUrls = chainNames.map((name) => {
    const outside = readRpcUrls(env, name).join()
    return [rpcVariable(name), outside || facts.rpcUrls[name]] as const
  })
  const directUrl = (env.DATABASE_URL && env.DATABASE_URL_DIRECT) || facts.databaseUrl
  return {
    NETWORK: 'devnet',
    LOG_LEVEL: env.LOG_LEVEL ?? 'info',
    DATABASE_URL: connectionOf(facts.databaseUrl, service, secrets[service]),
    DATABASE_URL_DIRECT: connectionOf(directUrl, service, secrets[service]),
    DEVNET_FILE: home.contracts,
    TEMPORAL_ADDRESS: facts.temporalAddress,
    TEMPORAL_NAMESPACE: facts.temporalNamespace,
    ...(Object.fromEntries(rpcUrls) as Record<string, string>),
  }
}

/** The API waits for the signer's public key and the worker's setup, which take about a second. */
const SERVING_TIMEOUT_MS = 30_000

async function waitUntilServing(hostUrl: string, home: Home): Promise<void> {
  const deadline = Date.now() + SERVING_TIMEOUT_MS
  for (;;) {
    const answer = await fetch(`${hostUrl}/readyz`).catch(() => undefined)
    const state = answer && (await answer.text())
    if (answer?.ok && state?.includes('"degraded":false')) return
    if (Date.now() > deadline) {
      const reason = state ?? 'no answer'
      throw new UserError(
        `The API does not become ready: ${reason.slice(0, 300)}. See ${home.log('api')}`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
