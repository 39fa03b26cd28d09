import { Interface, MaxUint256, getAddress } from 'ethers'
import { readBalance, readContract } from '../../chains/read.js'
import { SECONDS_PER_YEAR, checkedApy } from './apy.js'
import { encodeApprove } from '../approve.js'
import { sumEvents } from '../events.js'
import type { ChainClient } from '../../chains/connect.js'
import type { LendingProtocol } from './lending.js'

const RAY = 10n ** 27n

/** Bits of a reserve's configuration. @see ReserveConfiguration.sol of Aave v3 */
const ACTIVE = 1n << 56n
const FROZEN = 1n << 57n
const PAUSED = 1n << 60n
const DECIMALS_AT = 48n
const SUPPLY_CAP_AT = 116n
const bits = (configuration: bigint, at: bigint, width: number) =>
  BigInt.asUintN(width, configuration >> at)

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

const token = new Interface(['function totalSupply() view returns (uint256)'])

type Reserve = { configuration: bigint; liquidityIndex: bigint; accruedToTreasury: bigint }

const isActive = ({ configuration }: Reserve) =>
  (configuration & ACTIVE) !== 0n && (configuration & PAUSED) === 0n

export const aaveV3: LendingProtocol = {
  async readApy(client, market) {
    return checkedApy(client, await readSupplyRate(client, market.address, market.underlying))
  },

  readRoom(client, { address, underlying, receiptToken }) {
    return readSupplyRoom(client, address, underlying, receiptToken)
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
    return isActive(data as Reserve) ? held : 0n
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
  return Number(currentLiquidityRate) / Number(RAY) / SECONDS_PER_YEAR
}

/** Base units of an asset that a pool takes in. Its cap counts what it owes to its treasury. */
export async function readSupplyRoom(
  client: ChainClient,
  poolAddress: string,
  asset: string,
  aToken: string,
): Promise<bigint> {
  const [[data], [supplied]] = await Promise.all([
    readContract(client, poolAddress, pool, 'getReserveData', [asset]),
    readContract(client, aToken, token, 'totalSupply', []),
  ])
  const reserve = data as Reserve
  const { configuration, accruedToTreasury, liquidityIndex } = reserve
  if (!isActive(reserve) || (configuration & FROZEN) !== 0n) return 0n
  const cap = bits(configuration, SUPPLY_CAP_AT, 36)
  if (cap === 0n) return MaxUint256
  // Rounding may take one unit more.
  const owed = (accruedToTreasury * liquidityIndex) / RAY + 1n
  const room = cap * 10n ** bits(configuration, DECIMALS_AT, 8) - (supplied as bigint) - owed
  return room > 0n ? room : 0n
}
