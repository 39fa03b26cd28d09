import { Interface, MaxUint256 } from 'ethers'
import { readBalance, readContract } from '../../chains/read.js'
import { checkedApy } from './apy.js'
import { encodeApprove } from '../approve.js'
import { sumEvents } from '../events.js'
import type { LendingProtocol } from './lending.js'

/** Of rates per second. */
const FACTOR_SCALE = 1e18

/** @see https://docs.compound.finance/interest-rates/ */
const comet = new Interface([
  'function supply(address asset, uint256 amount)',
  'function withdraw(address asset, uint256 amount)',
  'function getUtilization() view returns (uint256)',
  'function getSupplyRate(uint256 utilization) view returns (uint64)',
  'function isSupplyPaused() view returns (bool)',
  'function isWithdrawPaused() view returns (bool)',
  'event Supply(address indexed from, address indexed dst, uint256 amount)',
  'event Withdraw(address indexed src, address indexed to, uint256 amount)',
])

/** Lending of the base token of a Comet. */
export const compoundV3: LendingProtocol = {
  async readApy(client, { address: to }) {
    const utilization = await readContract(client, { to, abi: comet, name: 'getUtilization' })
    const call = { to, abi: comet, name: 'getSupplyRate', args: [...utilization] }
    const [rate] = await readContract(client, call)
    return checkedApy(client, Number(rate as bigint) / FACTOR_SCALE)
  },

  async readRoom(client, { address: to }) {
    const [paused] = await readContract(client, { to, abi: comet, name: 'isSupplyPaused' })
    return paused === true ? 0n : MaxUint256
  },

  // A Comet is its own receipt token: the balance is the base units lent, interest included.
  readPosition(client, { address: token }, { wallet, block }) {
    return readBalance(client, { token, owner: wallet, block })
  },

  async readLiquidity(client, { address: to, underlying }) {
    const [[paused], held] = await Promise.all([
      readContract(client, { to, abi: comet, name: 'isWithdrawPaused' }),
      readBalance(client, { token: underlying, owner: to }),
    ])
    return paused === true ? 0n : held
  },

  encodeDeposit({ address, underlying }, _wallet, units) {
    return [
      encodeApprove(underlying, address, units),
      { to: address, data: comet.encodeFunctionData('supply', [underlying, units]) },
    ]
  },

  // More units than the position would be a loan, and all is exactly the position only by this word.
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
