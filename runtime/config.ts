import { z } from 'zod'
import {
  chainNames,
  networks,
  rpcVariable,
  variableSuffix,
  type ChainName,
} from '../evm/registry.js'
import { ServiceError } from '../domain/errors.js'
import { defaultLimits, type PriceLimits } from '../domain/limits.js'
import { assetUnits } from '../domain/money.js'
import type { FundingLimits } from '../domain/intent/funding.js'
import type { RefillLimits } from '../domain/refill.js'

const numberBetween = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
const wholeNumber = (min: number, max: number, preset: number) =>
  numberBetween(min, max).default(preset)
/** Decimal text of ETH, as wei. */
const ether = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,18})?$/, 'must be ETH in decimal text, such as 0.05')
  .transform((text) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  })
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

/** RPC endpoints of a chain, the preferred one first. */
const webUrls = z
  .string('must be URLs with commas between them')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(webUrl))
  .refine((urls) => new Set(urls).size === urls.length, 'must contain each endpoint once')
const rpcUrls = z.record(z.enum(chainNames), webUrls)

const refillVariables = {
  highestWei: 'REFILL_HIGHEST_ETH',
  dailyWei: 'REFILL_DAILY_ETH',
  reserveWei: 'REFILL_RESERVE_ETH',
} as const satisfies Record<keyof RefillLimits, string>

/** Sized after the amounts that faucets dispense. Execution on a rollup costs far less than on Ethereum. */
const refillPresets: Record<ChainName, Record<keyof RefillLimits, string>> = {
  'ethereum-sepolia': { highestWei: '0.05', dailyWei: '0.2', reserveWei: '0.01' },
  'arbitrum-sepolia': { highestWei: '0.01', dailyWei: '0.04', reserveWei: '0.002' },
  'base-sepolia': { highestWei: '0.01', dailyWei: '0.04', reserveWei: '0.002' },
}

const refills = z.record(
  z.enum(chainNames),
  z.object({ highestWei: ether, dailyWei: ether, reserveWei: ether }),
)
const refillVariable = (name: ChainName, limit: keyof RefillLimits) =>
  `${refillVariables[limit]}_${variableSuffix(name)}`

/** Circle's attestation service for test networks, which needs no API key. @see https://developers.circle.com/api-reference */
const CIRCLE_SANDBOX = 'https://iris-api-sandbox.circle.com'

/** Highest costs of swaps and bridges, for the planning processes and the signer. */
const prices = {
  SWAP_MAX_LOSS_BPS: wholeNumber(0, 10_000, Number(defaultLimits.swapLossBps)),
  SWAP_MAX_DRIFT_BPS: wholeNumber(0, 10_000, Number(defaultLimits.swapDriftBps)),
  BRIDGE_MAX_FEE_BPS: wholeNumber(0, 10_000, Number(defaultLimits.bridgeFeeBps)),
}
/** Whole dollars. */
const dollars = z
  .string()
  .regex(/^[1-9]\d{0,11}$/, 'must be a whole number of dollars')
  .transform((text) => assetUnits(text))
  .optional()

const temporal = {
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
}

const schemas = {
  api: z.object({
    ...common,
    ...temporal,
    ...prices,
    API_HOST: z.string().default('127.0.0.1'),
    API_PORT: wholeNumber(0, 65_535, 3_000),
    PUBLIC_URL: webUrl.optional(),
    TRUSTED_PROXIES: wholeNumber(0, 5, 0),
    TEMPORAL_UI_URL: webUrl.optional(),
    FUNDINGS_PER_WALLET_DAY: numberBetween(0, 1_000_000).optional(),
    FUNDINGS_PER_ACCOUNT_DAY: numberBetween(0, 1_000_000).optional(),
  }),
  worker: z.object({
    ...common,
    ...temporal,
    ...prices,
    BRIDGE_GIVE_UP_HOURS: wholeNumber(1, 8_760, 72),
    WORKER_ROLLOUT: z.enum(['automatic', 'manual']).default('automatic'),
    EVENTS_KEPT_DAYS: wholeNumber(31, 3_650, 90),
    WEBHOOK_KEY_FILE: z.string().min(1).optional(),
  }),
  // Only the relayer calls the attestation service, which limits the rate of requests.
  relayer: z.object({ ...common, ATTESTATION_URL: webUrl.default(CIRCLE_SANDBOX) }),
  signer: z.object({
    ...common,
    ...prices,
    DAILY_LIMIT_USD: dollars,
    WALLET_DAILY_LIMIT_USD: dollars,
    KEK_FILE: z.string().min(1),
    SENDERS_PER_CHAIN: wholeNumber(1, 16, 2),
    OPERATION_GAS_ETH: ether.refine((wei) => wei > 0n, 'must be above zero').default(10n ** 17n),
  }),
  // Commands of an operator. Without a database they report neither treasury nor senders.
  operator: z.object({
    ...common,
    ...temporal,
    DATABASE_URL: databaseUrl.default(''),
    TEMPORAL_ADDRESS: temporal.TEMPORAL_ADDRESS.default('127.0.0.1:7233'),
  }),
}

export type ProcessRole = keyof typeof schemas
type Environment = Record<string, string | undefined>

/**
 * Reads the environment of one process.
 *
 * @returns The checked settings of the role; `rpcUrls` and `refills` by canonical chain name; and `directDatabaseUrl`, a
 *   database URL without a pooler, because LISTEN and advisory locks need a session.
 * @throws {ServiceError} MISCONFIGURED with every missing or invalid variable. The message contains no values, because a
 *   URL may contain a password.
 */
export function loadConfig<R extends ProcessRole>(role: R, environment: Environment) {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== ''),
  )
  const parsed = schemas[role].safeParse(present)
  const nodes = rpcUrls.safeParse(
    Object.fromEntries(chainNames.map((name) => [name, present[rpcVariable(name)]])),
  )
  const refillLimits = refills.safeParse(readRefillTexts(role, present))
  const faults = [
    ...describeIssues(parsed.error, ([name = '']) => String(name)),
    ...describeIssues(nodes.error, ([name]) => rpcVariable(name as ChainName)),
    ...describeIssues(refillLimits.error, ([name, limit]) =>
      refillVariable(name as ChainName, limit as keyof RefillLimits),
    ),
    ...(present.NETWORK === 'devnet' ? findDevnetFaults(role, present) : []),
  ]
  if (!parsed.success || !nodes.success || !refillLimits.success || faults.length > 0) {
    const lines = faults.map((fault) => `  ${fault}`).join('\n')
    throw new ServiceError('MISCONFIGURED', `Invalid settings of the ${role} process:\n${lines}`)
  }
  const settings = parsed.data as z.infer<(typeof schemas)[R]>
  return {
    ...settings,
    directDatabaseUrl: settings.DATABASE_URL_DIRECT ?? settings.DATABASE_URL,
    rpcUrls: nodes.data,
    refills: refillLimits.data,
    limits: limitsIn(settings),
  }
}

/** Roles that neither plan nor sign use the default limits. */
function limitsIn(
  settings: { NETWORK: string } & Partial<Record<keyof typeof prices, number>>,
): PriceLimits {
  const { SWAP_MAX_LOSS_BPS, SWAP_MAX_DRIFT_BPS, BRIDGE_MAX_FEE_BPS } = settings
  const { swapLossBps, swapDriftBps, bridgeFeeBps } = defaultLimits
  return {
    swapLossBps: BigInt(SWAP_MAX_LOSS_BPS ?? swapLossBps),
    swapDriftBps: BigInt(SWAP_MAX_DRIFT_BPS ?? swapDriftBps),
    bridgeFeeBps: BigInt(BRIDGE_MAX_FEE_BPS ?? bridgeFeeBps),
  }
}

/** Only the signer refills senders. Other roles ignore these settings. */
function readRefillTexts(role: ProcessRole, present: Environment) {
  const textOf = (name: ChainName, limit: keyof RefillLimits) =>
    (role === 'signer' ? present[refillVariable(name, limit)] : undefined) ??
    refillPresets[name][limit]
  return Object.fromEntries(
    chainNames.map((name) => [
      name,
      {
        highestWei: textOf(name, 'highestWei'),
        dailyWei: textOf(name, 'dailyWei'),
        reserveWei: textOf(name, 'reserveWei'),
      },
    ]),
  )
}

type FundingSettings = Pick<z.infer<(typeof schemas)['api']>, 'NETWORK'> & {
  FUNDINGS_PER_WALLET_DAY?: number | undefined
  FUNDINGS_PER_ACCOUNT_DAY?: number | undefined
}

/** Test money and its gas are free of charge. On a public network both are scarce, so fundings are limited. */
export function fundingLimitsOf(settings: FundingSettings): FundingLimits {
  const [perWallet, perAccount] = settings.NETWORK === 'devnet' ? [0, 0] : [1, 20]
  return {
    perWallet: settings.FUNDINGS_PER_WALLET_DAY ?? perWallet,
    perAccount: settings.FUNDINGS_PER_ACCOUNT_DAY ?? perAccount,
  }
}

/** @param name - Returns the variable of an invalid field. */
const describeIssues = (error: z.ZodError | undefined, name: (path: PropertyKey[]) => string) =>
  (error?.issues ?? []).map(({ path, message }) => `${name(path)}: ${message}`)

/** The devnet needs its own addresses and attestation service. There is no public default for them. */
function findDevnetFaults(role: ProcessRole, present: Environment): string[] {
  return [
    ...(present.DEVNET_FILE
      ? []
      : ['DEVNET_FILE: must be the file with the addresses of the devnet']),
    ...(role === 'relayer' && !present.ATTESTATION_URL
      ? ['ATTESTATION_URL: must be the attestation service of the devnet']
      : []),
  ]
}
