import { z } from 'zod'
import { chainNames, networks, rpcVariable, type ChainName } from './chains/registry.js'
import { ServiceError } from './domain/errors.js'

const wholeNumber = (min: number, max: number, preset: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(preset)
const url = (scheme: RegExp) => z.url({ protocol: scheme })
const webUrl = url(/^https?$/)
const databaseUrl = url(/^postgres(ql)?$/)

const common = {
  NETWORK: z.enum(networks),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: databaseUrl,
  DATABASE_URL_DIRECT: databaseUrl.optional(),
  DEVNET_FILE: z.string().optional(),
}

/** Where the nodes of each chain are, the preferred one first. */
const webUrls = z
  .string('must be URLs with commas between them')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(webUrl))
  .refine((urls) => new Set(urls).size === urls.length, 'must name each endpoint once')
const rpcUrls = z.record(z.enum(chainNames), webUrls)

/** Circle's service for test networks; it needs no key. @see https://developers.circle.com/api-reference */
const CIRCLE_SANDBOX = 'https://iris-api-sandbox.circle.com'

const temporal = {
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
}

const schemas = {
  api: z.object({
    ...common,
    ...temporal,
    API_HOST: z.string().default('127.0.0.1'),
    API_PORT: wholeNumber(0, 65_535, 3_000),
  }),
  worker: z.object({
    ...common,
    ...temporal,
    BRIDGE_GIVE_UP_HOURS: wholeNumber(1, 8_760, 72),
  }),
  // The only process that asks the attestation service, which counts what it is asked.
  lanes: z.object({ ...common, ATTESTATION_URL: webUrl.default(CIRCLE_SANDBOX) }),
  signer: z.object({
    ...common,
    KEK_FILE: z.string().min(1),
    LANES_PER_CHAIN: wholeNumber(1, 16, 2),
  }),
  // Whoever looks from outside: without a database he sees neither treasury nor lanes.
  operator: z.object({
    ...common,
    ...temporal,
    DATABASE_URL: databaseUrl.default(''),
    TEMPORAL_ADDRESS: temporal.TEMPORAL_ADDRESS.default('127.0.0.1:7233'),
  }),
}

export type Role = keyof typeof schemas
type Environment = Record<string, string | undefined>

/**
 * Reads the environment of one process.
 *
 * @returns The checked settings of the role; `rpcUrls`, lists by canonical chain name; and `directDatabaseUrl`, the database
 *   without a pooler in between, which would cut off whoever listens and whoever leads.
 * @throws {ServiceError} MISCONFIGURED that names every missing or invalid variable at once. Values are not repeated: a URL
 *   may hold a password.
 */
export function loadConfig<R extends Role>(role: R, environment: Environment) {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== ''),
  )
  const parsed = schemas[role].safeParse(present)
  const nodes = rpcUrls.safeParse(
    Object.fromEntries(chainNames.map((name) => [name, present[rpcVariable(name)]])),
  )
  const faults = [
    ...tellFaults(parsed.error, String),
    ...tellFaults(nodes.error, (name) => rpcVariable(name as ChainName)),
    ...(present.NETWORK === 'devnet' ? findDevnetFaults(role, present) : []),
  ]
  if (!parsed.success || !nodes.success || faults.length > 0) {
    const lines = faults.map((fault) => `  ${fault}`).join('\n')
    throw new ServiceError('MISCONFIGURED', `Invalid settings of the ${role} process:\n${lines}`)
  }
  const settings = parsed.data as z.infer<(typeof schemas)[R]>
  return {
    ...settings,
    directDatabaseUrl: settings.DATABASE_URL_DIRECT ?? settings.DATABASE_URL,
    rpcUrls: nodes.data,
  }
}

/** `name`: the variable of a faulty field. */
const tellFaults = (error: z.ZodError | undefined, name: (field: PropertyKey) => string) =>
  (error?.issues ?? []).map(({ path: [field = ''], message }) => `${name(field)}: ${message}`)

/** Nothing that is public stands for what only the devnet has. */
function findDevnetFaults(role: Role, present: Environment): string[] {
  return [
    ...(present.DEVNET_FILE ? [] : ['DEVNET_FILE: must name the addresses of the devnet']),
    ...(role === 'lanes' && !present.ATTESTATION_URL
      ? ['ATTESTATION_URL: must be the attestation service of the devnet']
      : []),
  ]
}
