import { Interface, MaxUint256, getAddress } from 'ethers'
import { readBalance, readContract } from '../read.js'
import { SHARE_SCALE } from '../../domain/earnings.js'
import { SECONDS_PER_YEAR, checkedApy } from './apy.js'
import { encodeApprove } from '../calls/approve.js'
import { sumEvents } from '../logs/events.js'
import { isRevert, type ChainClient } from '../connect.js'
import type { BlockRef } from '../read.js'
import type { Market } from '../registry.js'
import type { Direction, LendingProtocol } from './lending.js'

const RAY = 10n ** 27n

/** Bits of a reserve's configuration. @see ReserveConfiguration.sol of Aave v3 */
export const ACTIVE = 1n << 56n
export const FROZEN = 1n << 57n
export const PAUSED = 1n << 60n
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
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function getVirtualUnderlyingBalance(address asset) view returns (uint128)',
  `event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
    uint16 indexed referralCode)`,
  `event Withdraw(address indexed reserve, address indexed user, address indexed to,
    uint256 amount)`,
])

const token = new Interface(['function totalSupply() view returns (uint256)'])

/** Base units of a token in existence. Of a receipt token that earns interest: what its holders have lent. */
export async function readTotalSupply(
  client: ChainClient,
  to: string,
  block: BlockRef,
): Promise<bigint> {
  return (await readContract(client, { to, abi: token, name: 'totalSupply', block }))[0] as bigint
}

type ReserveData = {
  configuration: bigint
  liquidityIndex: bigint
  currentLiquidityRate: bigint
  accruedToTreasury: bigint
}

const isActive = ({ configuration }: ReserveData) =>
  (configuration & ACTIVE) !== 0n && (configuration & PAUSED) === 0n
const isFrozen = ({ configuration }: ReserveData) => (configuration & FROZEN) !== 0n

export const aaveV3: LendingProtocol = {
  async readApy(client, { address, underlying }, block) {
    const place = { pool: address, asset: underlying }
    return checkedApy(client, await readSupplyRate(client, place, block))
  },

  readCapacity(client, market, block) {
    return readSupplyCapacity(client, poolAssetOf(market), block)
  },

  readCash(client, market, block) {
    return readPoolCash(client, poolAssetOf(market), block)
  },

  readSupplied(client, { receiptToken }, block) {
    return readTotalSupply(client, receiptToken, block)
  },

  isClosed(client, market, at) {
    return isReserveClosed(client, poolAssetOf(market), at)
  },

  // An aToken is worth one unit of its underlying. Interest increases its balance.
  readPosition(client, { receiptToken }, { wallet, block }) {
    return readBalance(client, { token: receiptToken, owner: wallet, block })
  },

  readLiquidity(client, market, { block }) {
    return readPoolCash(client, poolAssetOf(market), block)
  },

  async readSharePrice(client, { address: to, underlying }, block) {
    const call = { to, abi: pool, name: 'getReserveNormalizedIncome', args: [underlying], block }
    const [ray] = await readContract(client, call)
    return ((ray as bigint) * SHARE_SCALE) / RAY
  },

  encodeDeposit(market, wallet, units) {
    const { address: to, underlying } = market
    const data = pool.encodeFunctionData('supply', [underlying, units, wallet, 0])
    return [encodeApprove(underlying, to, units), { to, data }]
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

/** An asset in a pool. */
type PoolAsset = { pool: string; asset: string }
type PoolAssetWithToken = PoolAsset & { aToken: string }

const poolAssetOf = ({ address, underlying, receiptToken }: Market): PoolAssetWithToken => ({
  pool: address,
  asset: underlying,
  aToken: receiptToken,
})

async function readReserve(
  client: ChainClient,
  { pool: to, asset }: PoolAsset,
  block: BlockRef = 'latest',
): Promise<ReserveData> {
  const call = { to, abi: pool, name: 'getReserveData', args: [asset], block }
  const [reserve] = await readContract(client, call)
  return reserve as ReserveData
}

/**
 * The pool's internal balance of an asset. From Aave 3.1 on it is the upper bound of payouts, independent of the
 * aToken's balance. Undefined before 3.1.
 */
async function readVirtualBalance(
  client: ChainClient,
  { pool: to, asset }: PoolAsset,
  block: BlockRef,
): Promise<bigint | undefined> {
  const call = { to, abi: pool, name: 'getVirtualUnderlyingBalance', args: [asset], block }
  try {
    return (await readContract(client, call))[0] as bigint
  } catch (error) {
    if (isRevert(error)) return undefined
    throw error
  }
}

/** Supply rate of an asset per second, as a fraction. */
export async function readSupplyRate(
  client: ChainClient,
  place: PoolAsset,
  block?: BlockRef,
): Promise<number> {
  const { currentLiquidityRate } = await readReserve(client, place, block)
  return Number(currentLiquidityRate) / Number(RAY) / SECONDS_PER_YEAR
}

/** Base units of an asset that a pool can pay out at a block, to all lenders together. */
export async function readPoolCash(
  client: ChainClient,
  { aToken, ...place }: PoolAssetWithToken,
  block: BlockRef,
): Promise<bigint> {
  const [reserve, held, counted = held] = await Promise.all([
    readReserve(client, place, block),
    readBalance(client, { token: place.asset, owner: aToken, block }),
    readVirtualBalance(client, place, block),
  ])
  if (!isActive(reserve)) return 0n
  return counted < held ? counted : held
}

/** True when a reserve is paused; for deposits also when it is frozen. */
export async function isReserveClosed(
  client: ChainClient,
  place: PoolAsset,
  { direction, block }: { direction: Direction; block: BlockRef },
): Promise<boolean> {
  const reserve = await readReserve(client, place, block)
  return !isActive(reserve) || (direction === 'deposit' && isFrozen(reserve))
}

/** Base units of an asset that a pool accepts. The cap includes the pool's debt to its treasury. */
export async function readSupplyCapacity(
  client: ChainClient,
  { aToken, ...place }: PoolAssetWithToken,
  block: BlockRef = 'latest',
): Promise<bigint> {
  const [reserve, supplied] = await Promise.all([
    readReserve(client, place, block),
    readTotalSupply(client, aToken, block),
  ])
  const { configuration, accruedToTreasury, liquidityIndex } = reserve
  if (!isActive(reserve) || isFrozen(reserve)) return 0n
  const cap = bits(configuration, SUPPLY_CAP_AT, 36)
  if (cap === 0n) return MaxUint256
  // Rounding may add one unit.
  const owed = (accruedToTreasury * liquidityIndex) / RAY + 1n
  const capacity = cap * 10n ** bits(configuration, DECIMALS_AT, 8) - supplied - owed
  return capacity > 0n ? capacity : 0n
}
