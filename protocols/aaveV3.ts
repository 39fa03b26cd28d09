import { Interface, getAddress } from 'ethers'
import { readBalance, readContract } from '../chains/read.js'
import { ServiceError } from '../domain/errors.js'
import type { Market } from '../chains/registry.js'
import type { LendingProtocol } from './lending.js'

const SECONDS_PER_YEAR = 31_536_000
const RAY = 1e27

/** @see https://aave.com/docs/developers/smart-contracts/pool */
const pool = new Interface([
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  `function getReserveData(address asset) view returns (tuple(
    uint256 configuration, uint128 liquidityIndex, uint128 currentLiquidityRate,
    uint128 variableBorrowIndex, uint128 currentVariableBorrowRate, uint128 currentStableBorrowRate,
    uint40 lastUpdateTimestamp, uint16 id, address aTokenAddress, address stableDebtTokenAddress,
    address variableDebtTokenAddress, address interestRateStrategyAddress,
    uint128 accruedToTreasury, uint128 unbacked, uint128 isolationModeTotalDebt))`,
  `event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
    uint16 indexed referralCode)`,
])
const erc20 = new Interface(['function approve(address spender, uint256 amount)'])

export const aaveV3: LendingProtocol = {
  async readApy(client, market) {
    const [reserve] = await readContract(client, market.address, pool, 'getReserveData', [
      market.underlying,
    ])
    const { currentLiquidityRate } = reserve as { currentLiquidityRate: bigint }
    const apy = apyPercent(currentLiquidityRate)
    if (apy <= MAX_APY_PERCENT) return apy
    throw new ServiceError('RPC_ERROR', `${client.chain.name} told an impossible rate.`)
  },

  // An aToken is worth one unit of its underlying; its balance grows by the interest.
  readPosition(client, market, wallet, block) {
    return readBalance(client, market.receiptToken, wallet, block)
  },

  encodeDeposit(market, wallet, units) {
    const supply = [market.underlying, units, wallet, 0]
    return [
      {
        to: market.underlying,
        data: erc20.encodeFunctionData('approve', [market.address, units]),
      },
      { to: market.address, data: pool.encodeFunctionData('supply', supply) },
    ]
  },

  depositedUnits(market, wallet, logs) {
    return logs
      .filter((log) => log.address.toLowerCase() === market.address.toLowerCase())
      .map((log) => pool.parseLog(log)?.args.toObject())
      .filter((event) => event && isOwnDeposit(event, market, wallet))
      .reduce((sum, event) => sum + (event?.amount as bigint), 0n)
  },
}

/** Anybody may deposit for the wallet; its own deposits are those that it pays for itself. */
function isOwnDeposit(event: Record<string, unknown>, market: Market, wallet: string): boolean {
  const { reserve, user, onBehalfOf } = event
  return onBehalfOf === wallet && user === wallet && reserve === getAddress(market.underlying)
}

/** Far above any market; a node that tells more tells nonsense. */
const MAX_APY_PERCENT = 10_000

/**
 * Compounds Aave's yearly rate per second, as the pool does.
 *
 * @param liquidityRate - Rate per year in ray (27 decimals).
 * @returns APY in percent.
 */
export function apyPercent(liquidityRate: bigint): number {
  const perSecond = Number(liquidityRate) / RAY / SECONDS_PER_YEAR
  return Math.expm1(Math.log1p(perSecond) * SECONDS_PER_YEAR) * 100
}
