import { Interface, toQuantity } from 'ethers'
import { GAS_PRICE_ORACLE_ADDRESS } from '../../../evm/l1Costs.js'
import { REFUSED, calldataGas, readRaw, readUint, type Ask, type Rollup } from './rollup.js'

const oracle = new Interface([
  'function getL1Fee(bytes) view returns (uint256)',
  'function l1BaseFee() view returns (uint256)',
])
const signatureFeeCall = oracle.encodeFunctionData('getL1Fee', ['0x'])
const baseFeeCall = oracle.encodeFunctionData('l1BaseFee')

/** Bytes that the oracle adds for a signature. */
const SIGNATURE_UNITS = 68n * 16n

/**
 * OP Stack: the sender pays a fee for L1 on top of the gas.
 * @see https://docs.optimism.io/stack/transactions/fees
 */
export const opStack: Rollup = {
  // The lowest suggestion of op-geth.
  tipWei: 1_000_000n,

  async refusalOf(ask, { bytes, gasLimit, maxFeeWei, valueWei, sender }) {
    const payer = sender()
    if (!payer) return undefined
    const [signatureWei, answer] = await Promise.all([
      readSignatureWei(ask),
      ask<string>('eth_getBalance', [payer, 'latest']),
    ])
    const balance = BigInt(answer)
    const cost = gasLimit * maxFeeWei + valueWei + l1FeeOf(bytes, signatureWei)
    if (balance >= cost) return undefined
    const shortage = `balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`
    return { code: REFUSED, message: `insufficient funds for gas * price + value: ${shortage}` }
  },

  async toReceipt(ask, receipt) {
    const [raw, signatureWei, l1GasPrice] = await Promise.all([
      readRaw(ask, receipt),
      readSignatureWei(ask),
      readUint(ask, { to: GAS_PRICE_ORACLE_ADDRESS, data: baseFeeCall }),
    ])
    if (!raw) return receipt
    const l1 = { l1Fee: l1FeeOf(raw, signatureWei), l1GasUsed: calldataGas(raw), l1GasPrice }
    const fees = Object.entries(l1).map(([name, value]) => [name, toQuantity(value)])
    return { ...receipt, ...(Object.fromEntries(fees) as object) }
  },

  estimateOnTop: () => Promise.resolve(0n),
}

/** The fee of a signature alone. Other fees are proportional to it, so their bytes need no call of the oracle. */
const readSignatureWei = (ask: Ask) =>
  readUint(ask, { to: GAS_PRICE_ORACLE_ADDRESS, data: signatureFeeCall })

const l1FeeOf = (bytes: Buffer, signatureWei: bigint) =>
  (calldataGas(bytes) * signatureWei) / SIGNATURE_UNITS
