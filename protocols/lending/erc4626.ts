import { Interface, MaxUint256 } from 'ethers'
import { readBalance, readContract } from '../../chains/read.js'
import { isReserveClosed, readPoolCash, readSupplyRate, readSupplyRoom } from './aaveV3.js'
import { checkedApy } from './apy.js'
import { encodeApprove } from '../approve.js'
import { sumEvents } from '../events.js'
import { NOBODY, firstThatSucceeds, withUsdc } from './simulated.js'
import type { ChainClient } from '../../chains/connect.js'
import type { BlockRef } from '../../chains/read.js'
import type { Market } from '../../chains/registry.js'
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

/** Deposits that are tried, base units of USDC: from ten million down to one. */
const TRIED_DEPOSITS = [7, 6, 5, 4, 3, 2, 1, 0].map((zeros) => 10n ** BigInt(6 + zeros))
/** Withdrawals that are tried: the position, half of it and so on, down to a thousandth. */
const TRIED_HALVES = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n]

/**
 * Some vaults answer zero to every question for what they take and pay, closed or not. So a zero is not believed:
 * what somebody with USDC could deposit is tried. Where the node cannot simulate that, the zero stands.
 *
 * @see https://github.com/morpho-org/vault-v2 VaultV2.sol, the functions called max
 */
function simulateDeposits(
  client: ChainClient,
  { address: to, underlying }: Market,
  block: BlockRef,
): Promise<bigint> {
  return firstThatSucceeds(client, TRIED_DEPOSITS, (units) => {
    const data = vault.encodeFunctionData('deposit', [units, NOBODY])
    return { from: NOBODY, call: { to, data }, block, overrides: withUsdc(underlying, to, units) }
  })
}

/** The same for what the wallet could take out, which needs nobody's money: it has its shares. */
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

/** Vaults that lend what they hold in one market of Aave. */
export const erc4626: LendingProtocol = {
  /**
   * A vault tells no rate. How its share price grew would be one, but it takes minutes to measure
   * and says what was; this is what the vault earns now: Aave's rate on the part of it that is
   * lent.
   */
  async readApy(client, { address, underlying, lendsTo }, block = 'latest') {
    if (!lendsTo) throw new Error(`Where the vault ${address} lends is not known.`)
    const [rate, lent, [total]] = await Promise.all([
      readSupplyRate(client, { pool: lendsTo.pool, asset: underlying }, block),
      readBalance(client, { token: lendsTo.aToken, owner: address, block }),
      readContract(client, { to: address, abi: vault, name: 'totalAssets', block }),
    ])
    const totalUnits = Number(total as bigint)
    const lentPart = totalUnits === 0 ? 1 : Number(lent) / totalUnits
    return checkedApy(client, rate * lentPart)
  },

  // Vaults bound what they take in as a whole: the receiver makes no difference to those that are listed.
  async readRoom(client, market, block = 'latest') {
    const { address: to, underlying, lendsTo } = market
    const [[told], below] = await Promise.all([
      readContract(client, { to, abi: vault, name: 'maxDeposit', args: [to], block }),
      lendsTo ? readSupplyRoom(client, { ...lendsTo, asset: underlying }, block) : MaxUint256,
    ])
    const units = (told as bigint) || (await simulateDeposits(client, market, block))
    return below < units ? below : units
  },

  // The standard asks what one lender may take out, and nothing of all of them.
  async readCash(client, { address, underlying, lendsTo }, block) {
    if (!lendsTo) return undefined
    const [idle, below] = await Promise.all([
      readBalance(client, { token: underlying, owner: address, block }),
      readPoolCash(client, { ...lendsTo, asset: underlying }, block),
    ])
    return idle + below
  },

  async isClosed(client, market, at) {
    const { lendsTo, underlying: asset } = market
    if (lendsTo && (await isReserveClosed(client, { ...lendsTo, asset }, at))) return true
    if (at.direction === 'withdraw') return false
    return (await erc4626.readRoom(client, market, at.block)) === 0n
  },

  async readPosition(client, { address: to }, { wallet, block }) {
    const shares = await readBalance(client, { token: to, owner: wallet, block })
    const call = { to, abi: vault, name: 'previewRedeem', args: [shares], block }
    const [units] = await readContract(client, call)
    return units as bigint
  },

  async readLiquidity(client, market, { wallet, block }) {
    const { address: to, receiptToken: token } = market
    const [[told], shares] = await Promise.all([
      readContract(client, { to, abi: vault, name: 'maxWithdraw', args: [wallet], block }),
      readBalance(client, { token, owner: wallet, block }),
    ])
    const isTold = (told as bigint) > 0n || shares === 0n
    return isTold ? (told as bigint) : simulateWithdrawals(client, market, { wallet, block })
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
