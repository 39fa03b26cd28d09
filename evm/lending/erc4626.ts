import { Interface, MaxUint256 } from 'ethers'
import { SHARE_SCALE } from '../../domain/earnings.js'
import { readBalance, readContract } from '../read.js'
import {
  isReserveClosed,
  readPoolCash,
  readSupplyRate,
  readSupplyCapacity,
  readTotalSupply,
} from './aaveV3.js'
import { checkedApy } from './apy.js'
import { encodeApprove } from '../calls/approve.js'
import { sumEvents } from '../logs/events.js'
import { SIMULATED_ACCOUNT, firstThatSucceeds, withUsdc } from './simulated.js'
import type { ChainClient } from '../connect.js'
import type { BlockRef } from '../read.js'
import type { Market } from '../registry.js'
import type { LendingProtocol } from './lending.js'

/** @see https://eips.ethereum.org/EIPS/eip-4626 */
const vault = new Interface([
  'function totalAssets() view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function previewDeposit(uint256 assets) view returns (uint256)',
  'function transfer(address to, uint256 shares) returns (bool)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function maxDeposit(address receiver) view returns (uint256)',
  'function maxWithdraw(address owner) view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  `event Withdraw(address indexed sender, address indexed receiver, address indexed owner,
    uint256 assets, uint256 shares)`,
])

/** Simulated deposits, base units of USDC: from ten million USDC down to one. */
const TRIED_DEPOSITS = [7, 6, 5, 4, 3, 2, 1, 0].map((zeros) => 10n ** BigInt(6 + zeros))
/** Simulated withdrawals as halvings: the position, half of it and so on, down to a thousandth. */
const TRIED_HALVES = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n]

/**
 * Some vaults return zero from `maxDeposit` and `maxWithdraw` even when they are open. A zero is therefore checked by
 * simulating deposits of an account with USDC. On a node that cannot simulate it, the zero stands.
 *
 * @see https://github.com/morpho-org/vault-v2 VaultV2.sol, the functions called max
 */
function simulateDeposits(
  client: ChainClient,
  { address: to, underlying }: Market,
  block: BlockRef,
): Promise<bigint> {
  return firstThatSucceeds(client, TRIED_DEPOSITS, (units) => {
    const data = vault.encodeFunctionData('deposit', [units, SIMULATED_ACCOUNT])
    return {
      from: SIMULATED_ACCOUNT,
      call: { to, data },
      block,
      overrides: withUsdc(underlying, to, units),
    }
  })
}

/** The same for withdrawals, from the wallet itself, because it has shares. */
async function simulateWithdrawals(
  client: ChainClient,
  market: Market,
  { wallet, block }: { wallet: string; block: BlockRef },
): Promise<bigint> {
  const position = await erc4626.readPosition(client, market, { wallet, block })
  const parts = TRIED_HALVES.map((halves) => position >> halves).filter((units) => units > 0n)
  return firstThatSucceeds(client, parts, (units) => {
    const data = vault.encodeFunctionData('withdraw', [units, wallet, wallet])
    return { from: wallet, call: { to: market.address, data }, block }
  })
}

/** Vaults that lend their assets in one Aave market. */
export const erc4626: LendingProtocol = {
  /**
   * A vault reports no rate, and the growth of its share price takes minutes to measure and shows the past. The current
   * rate is Aave's rate on the lent part of the assets.
   */
  async readApy(client, { address, underlying, lendsTo }, block = 'latest') {
    if (!lendsTo) throw new Error(`The Aave market of vault ${address} is not listed.`)
    const [rate, lent, [total]] = await Promise.all([
      readSupplyRate(client, { pool: lendsTo.pool, asset: underlying }, block),
      readBalance(client, { token: lendsTo.aToken, owner: address, block }),
      readContract(client, { to: address, abi: vault, name: 'totalAssets', block }),
    ])
    const totalUnits = Number(total as bigint)
    const lentPart = totalUnits === 0 ? 1 : Number(lent) / totalUnits
    return checkedApy(client, rate * lentPart)
  },

  // The listed vaults have one limit for all receivers.
  async readCapacity(client, market, block = 'latest') {
    const { address: to, underlying, lendsTo } = market
    const [[reported], below] = await Promise.all([
      readContract(client, { to, abi: vault, name: 'maxDeposit', args: [to], block }),
      lendsTo ? readSupplyCapacity(client, { ...lendsTo, asset: underlying }, block) : MaxUint256,
    ])
    const units = (reported as bigint) || (await simulateDeposits(client, market, block))
    return below < units ? below : units
  },

  // ERC-4626 has no function for the cash of all lenders together.
  async readCash(client, { address, underlying, lendsTo }, block) {
    if (!lendsTo) return undefined
    const [idle, below] = await Promise.all([
      readBalance(client, { token: underlying, owner: address, block }),
      readPoolCash(client, { ...lendsTo, asset: underlying }, block),
    ])
    return idle + below
  },

  async readSupplied(client, { address, underlying, lendsTo }, block) {
    if (!lendsTo) return undefined
    const [idle, below] = await Promise.all([
      readBalance(client, { token: underlying, owner: address, block }),
      readTotalSupply(client, lendsTo.aToken, block),
    ])
    return idle + below
  },

  async isClosed(client, market, at) {
    const { lendsTo, underlying: asset } = market
    if (lendsTo && (await isReserveClosed(client, { ...lendsTo, asset }, at))) return true
    if (at.direction === 'withdraw') return false
    return (await erc4626.readCapacity(client, market, at.block)) === 0n
  },

  async readPosition(client, { address: to }, { wallet, block }) {
    const shares = await readBalance(client, { token: to, owner: wallet, block })
    const call = { to, abi: vault, name: 'previewRedeem', args: [shares], block }
    const [units] = await readContract(client, call)
    return units as bigint
  },

  async readLiquidity(client, market, { wallet, block }) {
    const { address: to, receiptToken: token } = market
    const [[reported], shares] = await Promise.all([
      readContract(client, { to, abi: vault, name: 'maxWithdraw', args: [wallet], block }),
      readBalance(client, { token, owner: wallet, block }),
    ])
    const isTrusted = (reported as bigint) > 0n || shares === 0n
    return isTrusted ? (reported as bigint) : simulateWithdrawals(client, market, { wallet, block })
  },

  async readSharePrice(client, { address: to }, block) {
    const call = { to, abi: vault, name: 'convertToAssets', args: [SHARE_SCALE], block }
    return (await readContract(client, call))[0] as bigint
  },

  encodeDeposit({ address, underlying }, wallet, units) {
    return [
      encodeApprove(underlying, address, units),
      { to: address, data: vault.encodeFunctionData('deposit', [units, wallet]) },
    ]
  },

  async previewDeposit(client, { address: to, receiptToken }, { wallet, units, block }) {
    const [heldShares, [addedShares]] = await Promise.all([
      readBalance(client, { token: receiptToken, owner: wallet, block }),
      readContract(client, { to, abi: vault, name: 'previewDeposit', args: [units], block }),
    ])
    const call = { to, abi: vault, name: 'previewRedeem', args: [addedShares], block }
    const [worthUnits] = await readContract(client, call)
    return { heldShares, addedShares: addedShares as bigint, worthUnits: worthUnits as bigint }
  },

  // A transfer of the wallet to itself moves nothing. It reverts when the balance is lower.
  encodeLeastShares({ address: to }, wallet, shares) {
    return { to, data: vault.encodeFunctionData('transfer', [wallet, shares]) }
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
