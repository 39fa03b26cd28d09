import { Interface, MaxUint256 } from 'ethers'
import { readBalance, readContract } from '../read.js'
import { SHARE_SCALE } from '../../domain/earnings.js'
import { smallest } from '../../domain/money.js'
import { checkedApy } from './apy.js'
import { readTotalSupply } from './aaveV3.js'
import { encodeApprove } from '../calls/approve.js'
import { sumEvents } from '../logs/events.js'
import type { ChainClient } from '../connect.js'
import type { BlockRef } from '../read.js'
import type { Market } from '../registry.js'
import type { Direction, LendingProtocol } from './lending.js'

/** Scale of rates per second and of utilization. */
const FACTOR_SCALE = 10n ** 18n

/** @see https://docs.compound.finance/interest-rates/ */
const comet = new Interface([
  'function supply(address asset, uint256 amount)',
  'function withdraw(address asset, uint256 amount)',
  'function getUtilization() view returns (uint256)',
  `function totalsBasic() view returns (uint64, uint64, uint64, uint64, uint104 totalSupplyBase, uint104,
    uint40, uint8)`,
  'function supplyKink() view returns (uint256)',
  'function supplyPerSecondInterestRateBase() view returns (uint256)',
  'function supplyPerSecondInterestRateSlopeLow() view returns (uint256)',
  'function supplyPerSecondInterestRateSlopeHigh() view returns (uint256)',
  'function isSupplyPaused() view returns (bool)',
  'function isWithdrawPaused() view returns (bool)',
  'event Supply(address indexed from, address indexed dst, uint256 amount)',
  'event Withdraw(address indexed src, address indexed to, uint256 amount)',
])

/** Lending of a Comet's base token. */
export const compoundV3: LendingProtocol = {
  async readApy(client, market, block = 'latest') {
    return checkedApy(
      client,
      Number(await readSupplyRate(client, market, block)) / Number(FACTOR_SCALE),
    )
  },

  async readCapacity(client, { address: to }, block = 'latest') {
    return (await isPaused(client, to, { direction: 'deposit', block })) ? 0n : MaxUint256
  },

  readCash,

  readSupplied(client, { address }, block) {
    return readTotalSupply(client, address, block)
  },

  isClosed(client, { address: to }, at) {
    return isPaused(client, to, at)
  },

  // A Comet is its own receipt token: its balance is the lent base units with interest.
  readPosition(client, { address: token }, { wallet, block }) {
    return readBalance(client, { token, owner: wallet, block })
  },

  readLiquidity(client, market, { block }) {
    return readCash(client, market, block)
  },

  // The index of the last accrual is a public field, the current one is not.
  async readSharePrice(client, { address: to }, block) {
    const [supplied, totals] = await Promise.all([
      readTotalSupply(client, to, block),
      readContract(client, { to, abi: comet, name: 'totalsBasic', block }),
    ])
    const principal = totals.totalSupplyBase as bigint
    return principal === 0n ? SHARE_SCALE : (supplied * SHARE_SCALE) / principal
  },

  encodeDeposit({ address, underlying }, _wallet, units) {
    return [
      encodeApprove(underlying, address, units),
      { to: address, data: comet.encodeFunctionData('supply', [underlying, units]) },
    ]
  },

  // More units than the position would be a loan. Only MaxUint256 means exactly the position.
  encodeWithdraw({ address, underlying }, _wallet, withdrawal) {
    const units = 'units' in withdrawal ? withdrawal.units : MaxUint256
    return [{ to: address, data: comet.encodeFunctionData('withdraw', [underlying, units]) }]
  },

  depositedUnits({ address }, wallet, logs) {
    const where = { from: wallet, dst: wallet }
    return sumEvents(comet, logs, { name: 'Supply', emitter: address, where, unitsIn: 'amount' })
  },

  withdrawnUnits({ address }, wallet, logs) {
    const where = { src: wallet, to: wallet }
    return sumEvents(comet, logs, { name: 'Withdraw', emitter: address, where, unitsIn: 'amount' })
  },
}

/**
 * Supply rate per second, scaled by `FACTOR_SCALE`. Equal to `getSupplyRate(getUtilization())`, computed here to avoid
 * a second round trip.
 *
 * @see https://github.com/compound-finance/comet/blob/main/contracts/Comet.sol
 */
async function readSupplyRate(
  client: ChainClient,
  { address: to }: Market,
  block: BlockRef,
): Promise<bigint> {
  const ask = async (name: string) =>
    (await readContract(client, { to, abi: comet, name, block }))[0] as bigint
  const [utilization, kink, base, slopeLow, slopeHigh] = await Promise.all([
    ask('getUtilization'),
    ask('supplyKink'),
    ask('supplyPerSecondInterestRateBase'),
    ask('supplyPerSecondInterestRateSlopeLow'),
    ask('supplyPerSecondInterestRateSlopeHigh'),
  ])
  const below = smallest(utilization, kink)
  const low = (slopeLow * below) / FACTOR_SCALE
  const high = (slopeHigh * (utilization - below)) / FACTOR_SCALE
  return base + low + high
}

async function readCash(
  client: ChainClient,
  { address: to, underlying }: Market,
  block: BlockRef,
): Promise<bigint> {
  const [paused, held] = await Promise.all([
    isPaused(client, to, { direction: 'withdraw', block }),
    readBalance(client, { token: underlying, owner: to, block }),
  ])
  return paused ? 0n : held
}

async function isPaused(
  client: ChainClient,
  to: string,
  { direction, block }: { direction: Direction; block: BlockRef },
): Promise<boolean> {
  const name = direction === 'deposit' ? 'isSupplyPaused' : 'isWithdrawPaused'
  return (await readContract(client, { to, abi: comet, name, block }))[0] === true
}
