import { Interface, MaxUint256, getAddress } from 'ethers'
import { readBalance, readContract } from '../chains/read.js'
import { SECONDS_PER_YEAR, checkedApy } from './apy.js'
import { encodeApprove } from './approve.js'
import { sumEvents } from './events.js'
import type { ChainClient } from '../chains/connect.js'
import type { LendingProtocol } from './lending.js'

const RAY = 1e27

/** Bits of a reserve's configuration. @see ReserveConfiguration.sol of Aave v3 */
const ACTIVE = 1n << 56n
const PAUSED = 1n << 60n

/** @see https://aave.com/docs/developers/smart-contracts/pool */
const pool = new Interface([
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
  `function getReserveData(address asset) view returns (tuple(
    uint256 configuration, uint128 liquidityIndex, uint128 currentLiquidityRate,
    uint128 variableBorrowIndex, uint128 currentVariableBorrowRate, uint128 currentStableBorrowRate,
    uint40 lastUpdateTimestamp, uint16 id, address aTokenAddress, address stableDebtTokenAddress,
    address variableDebtTokenAddress, address interestRateStrategyAddress,
    uint128 accruedToTreasury, uint128 unbacked, uint128 isolationModeTotalDebt))`,
  `event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
    uint16 indexed referralCode)`,
  `event Withdraw(address indexed reserve, address indexed user, address indexed to,
    uint256 amount)`,
])

export const aaveV3: LendingProtocol = {
  async readApy(client, market) {
    return checkedApy(client, await readSupplyRate(client, market.address, market.underlying))
  },

  // An aToken is worth one unit of its underlying; its balance grows by the interest.
  readPosition(client, market, wallet, block) {
    return readBalance(client, market.receiptToken, wallet, block)
  },

  async readLiquidity(client, { address, underlying, receiptToken }) {
    const [[data], held] = await Promise.all([
      readContract(client, address, pool, 'getReserveData', [underlying]),
      readBalance(client, underlying, receiptToken, 'latest'),
    ])
    const { configuration } = data as { configuration: bigint }
    const isOpen = (configuration & ACTIVE) !== 0n && (configuration & PAUSED) === 0n
    return isOpen ? held : 0n
  },

  encodeDeposit(market, wallet, units) {
    const supply = [market.underlying, units, wallet, 0]
    return [
      encodeApprove(market.underlying, market.address, units),
      { to: market.address, data: pool.encodeFunctionData('supply', supply) },
    ]
  },

  encodeWithdraw(market, wallet, withdrawal) {
    const units = 'units' in withdrawal ? withdrawal.units : MaxUint256
    const data = pool.encodeFunctionData('withdraw', [market.underlying, units, wallet])
    return [{ to: market.address, data }]
  },

  depositedUnits({ address, underlying }, wallet, logs) {
    const where = { reserve: getAddress(underlying), user: wallet, onBehalfOf: wallet }
    return sumEvents(pool, logs, { name: 'Supply', emitter: address, where, unitsIn: 'amount' })
  },

  withdrawnUnits({ address, underlying }, wallet, logs) {
    const where = { reserve: getAddress(underlying), user: wallet, to: wallet }
    return sumEvents(pool, logs, { name: 'Withdraw', emitter: address, where, unitsIn: 'amount' })
  },
}

/** What a pool pays on an asset per second, as a fraction. */
export async function readSupplyRate(
  client: ChainClient,
  poolAddress: string,
  asset: string,
): Promise<number> {
  const [reserve] = await readContract(client, poolAddress, pool, 'getReserveData', [asset])
  const { currentLiquidityRate } = reserve as { currentLiquidityRate: bigint }
  return Number(currentLiquidityRate) / RAY / SECONDS_PER_YEAR
}
