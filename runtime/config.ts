import {
  chainNames,
  networks,
  realMoney,
  rpcVariable,
  variableSuffix,
  type ChainName,
} from '../evm/registry.js'
import { ServiceError } from '../domain/errors.js'
import { defaultLimits, type PlanLimits } from '../domain/limits.js'
import { assetUnits } from '../domain/money.js'
import { defaultGasBudgets, devnetGasBudget, type GasBudgets, type Tier } from '../domain/tiers.js'
import {
  failureHoldPresets,
  failureHolds,
  failureHoldVariable,
  refillPresets,
  refillVariable,
  refills,
  rpcUrls,
  schemas,
} from './settings.js'
import { lending, prices, smallestAmounts } from './limitSettings.js'
import type { z } from 'zod'
import type { FundingLimits } from '../domain/intent/funding.js'
import type { RefillLimits } from '../domain/refill.js'

export type ProcessRole = keyof typeof schemas
type Environment = Record<string, string | undefined>

/**
 * Reads the environment of one process.
 *
 * @returns The checked settings of the role; `rpcUrls`, `refills` and `failureHolds` by canonical chain name; and `directDatabaseUrl`, a
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
  const holds = failureHolds.safeParse(readHoldTexts(role, present))
  const smallest = smallestAmounts.safeParse(readSmallestTexts(role, present))
  const faults = [
    ...describeIssues(parsed.error, ([name = '']) => String(name)),
    ...describeIssues(nodes.error, ([name]) => rpcVariable(name as ChainName)),
    ...describeIssues(holds.error, ([name]) => failureHoldVariable(name as ChainName)),
    ...describeIssues(refillLimits.error, ([name, limit]) =>
      refillVariable(name as ChainName, limit as keyof RefillLimits),
    ),
    ...describeIssues(smallest.error, ([name]) => smallestVariable(name as ChainName)),
    ...(present.NETWORK === 'devnet' ? findDevnetFaults(role, present) : []),
    ...(role === 'api' ? findExposureFaults(present) : []),
  ]
  if (
    !parsed.success ||
    !nodes.success ||
    !refillLimits.success ||
    !holds.success ||
    !smallest.success ||
    faults.length > 0
  ) {
    const lines = faults.map((fault) => `  ${fault}`).join('\n')
    throw new ServiceError('MISCONFIGURED', `Invalid settings of the ${role} process:\n${lines}`)
  }
  const settings = parsed.data as z.infer<(typeof schemas)[R]>
  return {
    ...settings,
    directDatabaseUrl: settings.DATABASE_URL_DIRECT ?? settings.DATABASE_URL,
    rpcUrls: nodes.data,
    refills: refillLimits.data,
    failureHolds: holds.data,
    limits: { ...limitsIn(settings), ...(isPlanner(role) && { smallest: smallest.data }) },
  }
}

/** Roles that neither plan nor sign use the default limits. */
function limitsIn(
  settings: { NETWORK: string } & Partial<
    Record<keyof typeof prices | keyof typeof lending, number>
  >,
): PlanLimits {
  const { SWAP_MAX_LOSS_BPS, SWAP_MAX_DRIFT_BPS, BRIDGE_MAX_FEE_BPS } = settings
  const { LEND_MAX_UTILIZATION_BPS, LEND_MIN_CASH_TIMES } = settings
  const { swapLossBps, swapDriftBps, bridgeFeeBps, utilizationBps, cashTimes } = defaultLimits
  return {
    swapLossBps: BigInt(SWAP_MAX_LOSS_BPS ?? swapLossBps),
    swapDriftBps: BigInt(SWAP_MAX_DRIFT_BPS ?? swapDriftBps),
    bridgeFeeBps: BigInt(BRIDGE_MAX_FEE_BPS ?? bridgeFeeBps),
    utilizationBps: BigInt(LEND_MAX_UTILIZATION_BPS ?? utilizationBps),
    cashTimes: BigInt(LEND_MIN_CASH_TIMES ?? cashTimes),
  }
}

/** Only the relayer settles failures. Other roles ignore these settings. */
function readHoldTexts(role: ProcessRole, present: Environment) {
  const textOf = (name: ChainName) =>
    (role === 'relayer' ? present[failureHoldVariable(name)] : undefined) ??
    failureHoldPresets[name]
  return Object.fromEntries(chainNames.map((name) => [name, textOf(name)]))
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

const smallestVariable = (name: ChainName) => `SMALLEST_AMOUNT_USD_${variableSuffix(name)}`

/** The planning processes refuse amounts that are too small. */
function readSmallestTexts(role: ProcessRole, present: Environment) {
  if (!isPlanner(role)) return {}
  const network = networks.find((name) => name === present.NETWORK)
  const preset = network && realMoney[network] ? 'gas' : '0'
  const textOf = (name: ChainName) => present[smallestVariable(name)] ?? preset
  return Object.fromEntries(chainNames.map((name) => [name, textOf(name)]))
}

const isPlanner = (role: ProcessRole) => role === 'api' || role === 'worker'

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

/** The gas budget of an account and day by its plan. */
export function gasBudgetsOf(settings: z.infer<(typeof schemas)['api']>): GasBudgets {
  const { GAS_BUDGET_USD_FREE, GAS_BUDGET_USD_PRO, GAS_BUDGET_USD_ENTERPRISE, NETWORK } = settings
  const budgetOf = (tier: Tier, given: number | undefined) => {
    if (given === 0) return undefined
    return given ?? (NETWORK === 'devnet' ? devnetGasBudget : defaultGasBudgets[tier])
  }
  return {
    free: budgetOf('free', GAS_BUDGET_USD_FREE),
    pro: budgetOf('pro', GAS_BUDGET_USD_PRO),
    enterprise: budgetOf('enterprise', GAS_BUDGET_USD_ENTERPRISE),
  }
}

type SigningSettings = Pick<
  z.infer<(typeof schemas)['signer']>,
  'NETWORK' | 'DAILY_LIMIT_USD' | 'WALLET_DAILY_LIMIT_USD' | 'FUNDING_DAILY_LIMIT_USD'
>

/** What the treasury pays to wallets in a day on a public network. */
const FUNDING_DAILY_UNITS = assetUnits('100')

/** The signer counts what it has signed itself. No row of another role raises these limits. */
export const dailyLimitsOf = (settings: SigningSettings) => ({
  dailyUnits: settings.DAILY_LIMIT_USD,
  walletDailyUnits: settings.WALLET_DAILY_LIMIT_USD,
  fundingDailyUnits:
    settings.FUNDING_DAILY_LIMIT_USD ??
    (settings.NETWORK === 'devnet' ? undefined : FUNDING_DAILY_UNITS),
})

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

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/**
 * Behind a public address the defaults are unsafe: cookies without TLS, pages of any host name, and all callers of a
 * proxy counted as one.
 */
function findExposureFaults({ API_HOST, ...present }: Environment): string[] {
  if (API_HOST === undefined || loopbackHost.test(API_HOST)) return []
  const required = {
    PUBLIC_URL: 'the address of the service in browsers, such as https://steward.example.com',
    TRUSTED_PROXIES: 'the number of proxies in front of the API, 0 without any',
  }
  return Object.entries(required)
    .filter(([name]) => present[name] === undefined)
    .map(([name, value]) => `${name}: must be ${value}, because API_HOST is not a loopback address`)
}
