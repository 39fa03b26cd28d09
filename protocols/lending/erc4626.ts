import { Interface, MaxUint256 } from 'ethers'
import { readBalance, readContract } from '../../chains/read.js'
import { readSupplyRate, readSupplyRoom } from './aaveV3.js'
import { checkedApy } from './apy.js'
import { encodeApprove } from '../approve.js'
import { sumEvents } from '../events.js'
import type { LendingProtocol } from './lending.js'

/** @see https://eips.ethereum.org/EIPS/eip-4626 */
const vault = new Interface([
  'function totalAssets() view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function maxDeposit(address receiver) view returns (uint256)',
  'function maxWithdraw(address owner) view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  `event Withdraw(address indexed sender, address indexed receiver, address indexed owner,
    uint256 assets, uint256 shares)`,
])

/** Vaults that lend what they hold in one market of Aave. */
export const erc4626: LendingProtocol = {
  /**
   * A vault tells no rate. How its share price grew would be one, but it takes minutes to measure
   * and says what was; this is what the vault earns now: Aave's rate on the part of it that is
   * lent.
   */
  async readApy(client, { address, underlying, lendsTo }) {
    if (!lendsTo) throw new Error(`Where the vault ${address} lends is not known.`)
    const [rate, lent, [total]] = await Promise.all([
      readSupplyRate(client, { pool: lendsTo.pool, asset: underlying }),
      readBalance(client, { token: lendsTo.aToken, owner: address }),
      readContract(client, { to: address, abi: vault, name: 'totalAssets' }),
    ])
    const totalUnits = Number(total as bigint)
    const lentPart = totalUnits === 0 ? 1 : Number(lent) / totalUnits
    return checkedApy(client, rate * lentPart)
  },

  // Vaults bound what they take in as a whole: the receiver makes no difference to those that are listed.
  async readRoom(client, { address, underlying, lendsTo }) {
    const [[units], below] = await Promise.all([
      readContract(client, { to: address, abi: vault, name: 'maxDeposit', args: [address] }),
      lendsTo ? readSupplyRoom(client, { ...lendsTo, asset: underlying }) : MaxUint256,
    ])
    return below < (units as bigint) ? below : (units as bigint)
  },

  async readPosition(client, { address: to }, { wallet, block }) {
    const shares = await readBalance(client, { token: to, owner: wallet, block })
    const call = { to, abi: vault, name: 'previewRedeem', args: [shares], block }
    const [units] = await readContract(client, call)
    return units as bigint
  },

  async readLiquidity(client, { address: to }, wallet) {
    const call = { to, abi: vault, name: 'maxWithdraw', args: [wallet] }
    const [units] = await readContract(client, call)
    return units as bigint
  },

  encodeDeposit({ address, underlying }, wallet, units) {
    return [
      encodeApprove(underlying, address, units),
      { to: address, data: vault.encodeFunctionData('deposit', [units, wallet]) },
    ]
  },

  encodeWithdraw({ address }, wallet, withdrawal) {
    const data =
      'units' in withdrawal
        ? vault.encodeFunctionData('withdraw', [withdrawal.units, wallet, wallet])
        : vault.encodeFunctionData('redeem', [withdrawal.receiptUnits, wallet, wallet])
    return [{ to: address, data }]
  },

  depositedUnits({ address }, wallet, logs) {
    const where = { sender: wallet, owner: wallet }
    return sumEvents(vault, logs, { name: 'Deposit', emitter: address, where, unitsIn: 'assets' })
  },

  withdrawnUnits({ address }, wallet, logs) {
    const where = { sender: wallet, receiver: wallet, owner: wallet }
    return sumEvents(vault, logs, { name: 'Withdraw', emitter: address, where, unitsIn: 'assets' })
  },
}
