import { Interface, toQuantity } from 'ethers'
import { GAS_PRICE_ORACLE_ADDRESS } from '../../chains/l1Costs.js'
import { REFUSED, calldataGas, readUint, type Ask, type Rollup } from './rollup.js'

const oracle = new Interface([
  'function getL1Fee(bytes) view returns (uint256)',
  'function l1BaseFee() view returns (uint256)',
])

/** What the oracle counts for a signature beside the bytes that it is given. */
const SIGNATURE_UNITS = 68n * 16n

/**
 * OP Stack: a fee for L1 comes on top of the gas; the sender must have it.
 * @see https://docs.optimism.io/stack/transactions/fees
 */
export const opStack: Rollup = {
  // op-geth's lowest suggestion.
  tipWei: 1_000_000n,

  async refusalOf(ask, { raw, transaction, sender }) {
    const { gasLimit, maxFeePerGas, gasPrice, value } = transaction
    const [fee, answer] = await Promise.all([
      l1FeeOf(ask, raw),
      ask<string>('eth_getBalance', [sender, 'latest']),
    ])
    const balance = BigInt(answer)
    const cost = gasLimit * (maxFeePerGas ?? gasPrice ?? 0n) + value + fee
    if (balance >= cost) return undefined
    const told = `balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`
    return { code: REFUSED, message: `insufficient funds for gas * price + value: ${told}` }
  },

  async toldReceipt(ask, receipt, raw) {
    const data = oracle.encodeFunctionData('l1BaseFee')
    const [fee, price] = await Promise.all([
      l1FeeOf(ask, raw),
      readUint(ask, { to: GAS_PRICE_ORACLE_ADDRESS, data }),
    ])
    const l1 = { l1Fee: fee, l1GasUsed: calldataGas(raw), l1GasPrice: price }
    const told = Object.entries(l1).map(([name, value]) => [name, toQuantity(value)])
    return { ...receipt, ...(Object.fromEntries(told) as object) }
  },

  estimateOnTop: () => Promise.resolve(0n),
}

/** The fee of signed bytes, in proportion to that of a signature alone: bytes need not pass the oracle. */
async function l1FeeOf(ask: Ask, raw: string): Promise<bigint> {
  const data = oracle.encodeFunctionData('getL1Fee', ['0x'])
  const signatureWei = await readUint(ask, { to: GAS_PRICE_ORACLE_ADDRESS, data })
  return (calldataGas(raw) * signatureWei) / SIGNATURE_UNITS
}
