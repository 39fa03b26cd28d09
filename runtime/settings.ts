import { z } from 'zod'
import { chainNames, networks, variableSuffix, type ChainName } from '../evm/registry.js'
import { assetUnits } from '../domain/money.js'
import { defaultGasBudgets, devnetGasBudget, type Tier } from '../domain/tiers.js'
import { lending, numberBetween, prices, smallestAmount, wholeNumber } from './limitSettings.js'
import type { RefillLimits } from '../domain/refill.js'

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
  NETWORK: z
    .enum(networks)
    .describe('Network of the deployment. A database belongs to one network for good.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest level of log lines that are written.'),
  DATABASE_URL: databaseUrl.describe('Database, with the role of the process.'),
  DATABASE_URL_DIRECT: databaseUrl
    .optional()
    .describe(
      'The same database without the pooler in between. Needed when `DATABASE_URL` names a transaction pooler.',
    ),
  DEVNET_FILE: z
    .string()
    .optional()
    .describe('File with the contract addresses of the devnet. Required on the devnet.'),
}

/** RPC endpoints of a chain, the preferred one first. */
const webUrls = z
  .string('must be URLs with commas between them')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(webUrl))
  .refine((urls) => new Set(urls).size === urls.length, 'must contain each endpoint once')
export const rpcUrls = z.record(z.enum(chainNames), webUrls)

const refillVariables = {
  highestWei: 'REFILL_HIGHEST_ETH',
  dailyWei: 'REFILL_DAILY_ETH',
  reserveWei: 'REFILL_RESERVE_ETH',
} as const satisfies Record<keyof RefillLimits, string>

/** Sized after the amounts that faucets dispense. Execution on a rollup costs far less than on Ethereum. */
export const refillPresets: Record<ChainName, Record<keyof RefillLimits, string>> = {
  'ethereum-sepolia': { highestWei: '0.05', dailyWei: '0.2', reserveWei: '0.01' },
  'arbitrum-sepolia': { highestWei: '0.01', dailyWei: '0.04', reserveWei: '0.002' },
  'base-sepolia': { highestWei: '0.01', dailyWei: '0.04', reserveWei: '0.002' },
}

export const refills = z.record(
  z.enum(chainNames),
  z.object({ highestWei: ether, dailyWei: ether, reserveWei: ether }),
)
export const refillVariable = (name: ChainName, limit: keyof RefillLimits) =>
  `${refillVariables[limit]}_${variableSuffix(name)}`

/**
 * Seconds between the confirmation of a failure and the use of its money. The deepest reorg of Ethereum since proof of
 * stake took seven blocks, 84 s, on 2022-05-25.
 * @see https://barnabe.substack.com/p/pos-ethereum-reorg
 */
export const failureHoldPresets: Record<ChainName, string> = {
  'ethereum-sepolia': '300',
  'arbitrum-sepolia': '300',
  'base-sepolia': '300',
}
export const failureHolds = z.record(z.enum(chainNames), numberBetween(0, 86_400))
const FAILURE_HOLD = 'FAILURE_HOLD_SECONDS'
export const failureHoldVariable = (name: ChainName) => `${FAILURE_HOLD}_${variableSuffix(name)}`

/** Circle's attestation service for test networks, which needs no API key. @see https://developers.circle.com/api-reference */
const CIRCLE_SANDBOX = 'https://iris-api-sandbox.circle.com'

/** Whole dollars. */
const dollars = z
  .string()
  .regex(/^[1-9]\d{0,11}$/, 'must be a whole number of dollars')
  .transform((text) => assetUnits(text))
  .optional()

const gasBudget = (tier: Tier) =>
  numberBetween(0, 999_999_999)
    .optional()
    .describe(
      `Gas in US dollars that intents of a \`${tier}\` account may use in a UTC day. 0 is unlimited. Without it: ${defaultGasBudgets[tier]}, on the devnet ${devnetGasBudget}.`,
    )

const temporal = {
  TEMPORAL_ADDRESS: z.string().min(1).describe('Address of the Temporal server.'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('Temporal namespace.'),
}

/** Settings of each process. */
export const schemas = {
  api: z.object({
    ...common,
    ...temporal,
    ...prices,
    ...lending,
    API_HOST: z.string().default('127.0.0.1').describe('Address on which the API listens.'),
    API_PORT: wholeNumber(0, 65_535, 3_000).describe(
      'Port on which the API listens. 0 chooses a free port.',
    ),
    PUBLIC_URL: webUrl
      .optional()
      .describe(
        'Public address of the service. With https, cookies are Secure. Only pages of this origin can write and call `/mcp`. Required when `API_HOST` is not a loopback address.',
      ),
    TRUSTED_PROXIES: wholeNumber(0, 5, 0).describe(
      'Number of proxies in front of the API whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. Required when `API_HOST` is not a loopback address.',
    ),
    TEMPORAL_UI_URL: webUrl
      .optional()
      .describe('Address of the Temporal UI, for links in the dashboard.'),
    FUNDINGS_PER_WALLET_DAY: numberBetween(0, 1_000_000)
      .optional()
      .describe(
        'Calls of `POST /v1/demo/fund` per wallet and day. 0 is unlimited. Without it: 1, on the devnet unlimited.',
      ),
    FUNDINGS_PER_ACCOUNT_DAY: numberBetween(0, 1_000_000)
      .optional()
      .describe(
        'Calls of `POST /v1/demo/fund` per account and day. 0 is unlimited. Without it: 20, on the devnet unlimited.',
      ),
    GAS_BUDGET_USD_FREE: gasBudget('free'),
    GAS_BUDGET_USD_PRO: gasBudget('pro'),
    GAS_BUDGET_USD_ENTERPRISE: gasBudget('enterprise'),
  }),
  worker: z.object({
    ...common,
    ...temporal,
    ...prices,
    ...lending,
    PUBLIC_URL: webUrl
      .optional()
      .describe('Public address of the service. Workflows link to it in the Temporal UI.'),
    BRIDGE_GIVE_UP_HOURS: wholeNumber(1, 8_760, 72).describe(
      'Hours from a burn until an intent whose mint is not confirmed is marked as failed. The service still waits for the money.',
    ),
    WORKER_ROLLOUT: z
      .enum(['automatic', 'manual'])
      .default('automatic')
      .describe(
        '`automatic` makes a new version of the workflows current. `manual` leaves this to an operator.',
      ),
    EVENTS_KEPT_DAYS: wholeNumber(31, 3_650, 90).describe(
      'Days for which events are kept. Events are deleted by whole months.',
    ),
    WEBHOOK_KEY_FILE: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Key that opens webhook secrets, created at the first start. Without it, no webhooks are delivered.',
      ),
  }),
  // Only the relayer calls the attestation service, which limits the rate of requests.
  relayer: z.object({
    ...common,
    ATTESTATION_URL: webUrl
      .default(CIRCLE_SANDBOX)
      .describe('Attestation service of the bridge. Required on the devnet.'),
  }),
  signer: z.object({
    ...common,
    ...prices,
    DAILY_LIMIT_USD: dollars.describe(
      'Highest sum in US dollars that may start to move in 24 hours. Without it: unlimited.',
    ),
    WALLET_DAILY_LIMIT_USD: dollars.describe('The same limit for each wallet.'),
    FUNDING_DAILY_LIMIT_USD: dollars.describe(
      'Highest sum in US dollars that the treasury may pay to wallets in 24 hours. Without it: 100, on the devnet unlimited.',
    ),
    KEK_FILE: z
      .string()
      .min(1)
      .describe('Key encryption key, created at the first start. It opens every wallet.'),
    SIGNER_STOP_FILE: z
      .string()
      .min(1)
      .optional()
      .describe(
        'While this file exists, the signer signs nothing. Without it: `stop-signing` next to `KEK_FILE`.',
      ),
    SENDERS_PER_CHAIN: wholeNumber(1, 16, 2).describe('Number of senders on each chain.'),
    OPERATION_GAS_ETH: ether
      .refine((wei) => wei > 0n, 'must be above zero')
      .default(10n ** 17n)
      .describe(
        'Highest gas cost of one operation in ETH, including L1. Above it, the operation waits.',
      ),
  }),
  // Commands of an operator. Without a database they report neither treasury nor senders.
  operator: z.object({
    ...common,
    ...temporal,
    DATABASE_URL: databaseUrl.default(''),
    TEMPORAL_ADDRESS: temporal.TEMPORAL_ADDRESS.default('127.0.0.1:7233'),
  }),
}

type ChainSetting = {
  /** The name of the chain follows, as in `RPC_URL_BASE_SEPOLIA`. */
  prefix: string
  readers: readonly Exclude<keyof typeof schemas, 'operator'>[]
  schema: z.ZodType
  /** Default of each chain. */
  presets?: Record<ChainName, string>
}

const refillSetting = (limit: keyof RefillLimits, meaning: string): ChainSetting => ({
  prefix: refillVariables[limit],
  readers: ['signer'],
  schema: ether.describe(meaning),
  presets: Object.fromEntries(
    chainNames.map((name) => [name, refillPresets[name][limit]]),
  ) as Record<ChainName, string>,
})

/** Settings of each chain, for the page that lists all settings. */
export const chainSettings: ChainSetting[] = [
  {
    prefix: 'RPC_URL',
    readers: ['api', 'worker', 'relayer', 'signer'],
    schema: webUrls.describe('RPC endpoints, separated by commas, the preferred one first.'),
  },
  {
    prefix: FAILURE_HOLD,
    readers: ['relayer'],
    schema: numberBetween(0, 86_400).describe(
      'Seconds after a failure is confirmed until its money can be used and its intent retried. A reorg that is deeper may repeat the failed step.',
    ),
    presets: failureHoldPresets,
  },
  {
    prefix: 'SMALLEST_AMOUNT_USD',
    readers: ['api', 'worker'],
    schema: smallestAmount
      .optional()
      .describe(
        'Smallest amount of an intent with a step on the chain, in US dollars. `gas`: the estimated gas of its plan. 0 accepts any amount. Without it: 0 on test networks, `gas` where money is real.',
      ),
  },
  refillSetting('highestWei', 'Balance of a sender in ETH after a refill.'),
  refillSetting('dailyWei', 'Sum of all refills in 24 hours, in ETH. 0 turns refills off.'),
  refillSetting('reserveWei', 'Balance in ETH that stays with the treasury.'),
]
