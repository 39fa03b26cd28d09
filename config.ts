import { z } from 'zod'
import { networks } from './chains/registry.js'
import { ServiceError } from './domain/errors.js'

const port = z.coerce.number().int().min(0).max(65_535)
const url = z.string().min(1)

const common = {
  NETWORK: z.enum(networks),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: url,
  DEVNET_FILE: z.string().optional(),
  RPC_URL_ETHEREUM_SEPOLIA: url,
  RPC_URL_ARBITRUM_SEPOLIA: url,
  RPC_URL_BASE_SEPOLIA: url,
}

const temporal = {
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
}

const schemas = {
  api: z.object({
    ...common,
    ...temporal,
    API_HOST: z.string().default('127.0.0.1'),
    API_PORT: port.default(3000),
  }),
  worker: z.object({ ...common, ...temporal }),
  signer: z.object({
    ...common,
    KEK_FILE: z.string().min(1),
    LANES_PER_CHAIN: z.coerce.number().int().min(1).max(16).default(2),
  }),
}

export type Role = keyof typeof schemas
type Environment = Record<string, string | undefined>

/**
 * Reads the environment of one process.
 *
 * @returns The checked settings of the role, and `rpcUrls` by canonical chain name.
 * @throws Error that names every missing or invalid variable at once. Values are not repeated: a URL
 *   may hold a password.
 */
export function loadConfig<R extends Role>(role: R, environment: Environment) {
  const present = Object.entries(environment).filter(([, value]) => value !== '')
  const parsed = schemas[role].safeParse(Object.fromEntries(present))
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
    throw new ServiceError(
      'MISCONFIGURED',
      `Invalid settings of the ${role} process:\n${lines.join('\n')}`,
    )
  }
  const settings = parsed.data as z.infer<(typeof schemas)[R]>
  return {
    ...settings,
    rpcUrls: {
      'ethereum-sepolia': settings.RPC_URL_ETHEREUM_SEPOLIA,
      'arbitrum-sepolia': settings.RPC_URL_ARBITRUM_SEPOLIA,
      'base-sepolia': settings.RPC_URL_BASE_SEPOLIA,
    },
  }
}
