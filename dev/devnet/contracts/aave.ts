import { getCreateAddress, ZeroAddress } from 'ethers'
import { readAaveArtifact, type Artifact } from './artifacts.js'
import { type Contract, type Plan } from './plan.js'

/** A token to list. `priceUsd` has 8 decimals, `ltv` and `liquidation` are basis points, rates are percent. */
export type Reserve = {
  symbol: string
  decimals: number
  token: Contract
  feed: Contract
  ltv: number
  liquidation: number
  rates: { optimal: number; base: number; slope1: number; slope2: number }
}

export type Lending = { pool: Contract; firstAToken: string }

const RAY = 10n ** 27n
const LIQUIDATION_BONUS = 10_500
const RESERVE_FACTOR = 1_000

/** 8 decimals, as in Chainlink's USD feeds. */
const ORACLE_UNIT = 10n ** 8n

/**
 * Plans Aave v3.0.2 with the given reserves, without liquidity. All addresses are known in advance: the provider
 * creates the pool and the configurator first, and the configurator creates the first aToken first. Hence no
 * transaction depends on a read.
 */
export function planAave(plan: Plan, market: string, owner: string, reserves: Reserve[]): Lending {
  const libraries = planLibraries(plan)
  const deploy = (name: string, args: unknown[]) => plan.deploy(readAaveArtifact(name), args)
  const provider = deploy('protocol/configuration/PoolAddressesProvider', [market, owner])
  planRoles(plan, provider, owner)
  planOracle(plan, provider, reserves)

  const poolArtifact = readAaveArtifact('protocol/pool/Pool')
  const poolCode = plan.deploy(poolArtifact, [provider.address], libraries)
  const pool = planProxy(plan, provider, poolCode, { setter: 'setPoolImpl', nonce: 1 })
  const configuratorCode = plan.deploy(
    readAaveArtifact('protocol/pool/PoolConfigurator'),
    [],
    libraries,
  )
  const proxy = { setter: 'setPoolConfiguratorImpl', nonce: 2 }
  const configurator = planProxy(plan, provider, configuratorCode, proxy)
  const dataProvider = deploy('misc/AaveProtocolDataProvider', [provider.address])
  plan.call(provider, 'setPoolDataProvider', [dataProvider.address])

  planReserves(plan, { provider, pool, configurator, treasury: owner }, reserves)
  const firstAToken = getCreateAddress({ from: configurator.address, nonce: 1 })
  return { pool, firstAToken }
}

function planLibraries(plan: Plan): Record<string, string> {
  const names = ['SupplyLogic', 'BorrowLogic', 'LiquidationLogic', 'EModeLogic', 'BridgeLogic']
  // FlashLoanLogic links BorrowLogic, so it comes last.
  names.push('ConfiguratorLogic', 'PoolLogic', 'FlashLoanLogic')
  const libraries: Record<string, string> = {}
  for (const name of names) {
    const artifact = readAaveArtifact(`protocol/libraries/logic/${name}`)
    libraries[name] = plan.deploy(artifact, [], libraries).address
  }
  return libraries
}

function planRoles(plan: Plan, provider: Contract, owner: string): void {
  plan.call(provider, 'setACLAdmin', [owner])
  const artifact = readAaveArtifact('protocol/configuration/ACLManager')
  const manager = plan.deploy(artifact, [provider.address])
  plan.call(provider, 'setACLManager', [manager.address])
  plan.call(manager, 'addPoolAdmin', [owner])
  plan.call(manager, 'addAssetListingAdmin', [owner])
  plan.call(manager, 'addRiskAdmin', [owner])
}

function planOracle(plan: Plan, provider: Contract, reserves: Reserve[]): void {
  const tokens = reserves.map(({ token }) => token.address)
  const feeds = reserves.map(({ feed }) => feed.address)
  const args = [provider.address, tokens, feeds, ZeroAddress, ZeroAddress, ORACLE_UNIT]
  const oracle = plan.deploy(readAaveArtifact('misc/AaveOracle'), args)
  plan.call(provider, 'setPriceOracle', [oracle.address])
}

function planProxy(
  plan: Plan,
  provider: Contract,
  implementation: Contract,
  { setter, nonce }: { setter: string; nonce: number },
): Contract {
  plan.call(implementation, 'initialize', [provider.address])
  plan.call(provider, setter, [implementation.address], { gasLimit: 3_000_000 })
  const address = getCreateAddress({ from: provider.address, nonce })
  return { address, interface: implementation.interface }
}

type AaveContracts = {
  provider: Contract
  pool: Contract
  configurator: Contract
  treasury: string
}

function planReserves(plan: Plan, parts: AaveContracts, reserves: Reserve[]): void {
  const tokens = ['AToken', 'StableDebtToken', 'VariableDebtToken'].map((name) => {
    const artifact = readAaveArtifact(`protocol/tokenization/${name}`)
    return plan.deploy(artifact, [parts.pool.address]).address
  })
  const strategy = readAaveArtifact('protocol/pool/DefaultReserveInterestRateStrategy')
  const inputs = reserves.map((reserve) => {
    return reserveInput(plan, parts, reserve, { tokens, strategy })
  })
  plan.call(parts.configurator, 'initReserves', [inputs], { gasLimit: 12_000_000 })
  for (const { token, ltv, liquidation } of reserves) {
    const collateral = [token.address, ltv, liquidation, LIQUIDATION_BONUS]
    plan.call(parts.configurator, 'configureReserveAsCollateral', collateral)
    plan.call(parts.configurator, 'setReserveBorrowing', [token.address, true])
    plan.call(parts.configurator, 'setReserveFactor', [token.address, RESERVE_FACTOR])
  }
}

/** The struct InitReserveInput of Aave's PoolConfigurator, field by field. */
function reserveInput(
  plan: Plan,
  { provider, treasury }: AaveContracts,
  { symbol, decimals, token, rates }: Reserve,
  { tokens, strategy }: { tokens: string[]; strategy: Artifact },
): unknown[] {
  const variable = [rates.optimal, rates.base, rates.slope1, rates.slope2].map(toRay)
  // Stable borrowing is disabled. Its optimal share of the debt must still be a fraction of one.
  const stable = [0n, 0n, 0n, 0n, RAY / 5n]
  const { address } = plan.deploy(strategy, [provider.address, ...variable, ...stable])
  const incentives = ZeroAddress
  return [
    ...tokens,
    decimals,
    address,
    token.address,
    treasury,
    incentives,
    `Aave ${symbol}`,
    `a${symbol}`,
    `Aave variable debt ${symbol}`,
    `variableDebt${symbol}`,
    `Aave stable debt ${symbol}`,
    `stableDebt${symbol}`,
    '0x',
  ]
}

/** Converts percent to a fraction in ray, exact to the sixth decimal. */
function toRay(percent: number): bigint {
  return (BigInt(Math.round(percent * 1e6)) * RAY) / 10n ** 8n
}
