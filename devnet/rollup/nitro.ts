import { brotliCompressSync, constants } from 'node:zlib'
import { Interface, toQuantity, type Transaction } from 'ethers'
import { ARB_GAS_INFO_ADDRESS } from '../../chains/l1Costs.js'
import { REFUSED, calldataGas, readUint, toBytes, type Ask, type Rollup } from './rollup.js'

const gasInfo = new Interface(['function getL1BaseFeeEstimate() view returns (uint256)'])

/** L1 gas of a byte of compressed data. */
const BYTE_UNITS = 16n

/**
 * An estimate expects dearer data and cheaper gas than there are: together about a quarter more.
 * @see https://github.com/OffchainLabs/nitro/blob/master/arbos/l1pricing/l1pricing.go
 */
const ESTIMATE_PERCENT = 126n
/** A signature and what else the estimated call lacks, bytes. */
const ESTIMATE_BYTES = 110n

/**
 * Arbitrum Nitro: gas for L1 is part of a transaction's gas limit and of what it has used.
 * @see https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 */
export const nitro: Rollup = {
  // First come, first served: a tip buys nothing and is not taken.
  tipWei: 0n,

  async refusalOf(ask, { raw, transaction }) {
    const needed = intrinsicGas(transaction) + (await dataGas(ask, compressedBytes(raw)))
    if (transaction.gasLimit >= needed) return undefined
    const message = `intrinsic gas too low: have ${transaction.gasLimit}, want ${needed}`
    return { code: REFUSED, message }
  },

  async toldReceipt(ask, receipt, raw) {
    const price = BigInt(receipt.effectiveGasPrice)
    const gas = price === 0n ? 0n : (await dataWei(ask, compressedBytes(raw))) / price
    const gasUsed = toQuantity(BigInt(receipt.gasUsed) + gas)
    return { ...receipt, gasUsed, ...{ gasUsedForL1: toQuantity(gas) } }
  },

  async estimateOnTop(ask, data) {
    const gas = await dataGas(ask, compressedBytes(data) + ESTIMATE_BYTES)
    return (gas * ESTIMATE_PERCENT) / 100n
  },
}

async function dataGas(ask: Ask, bytes: bigint): Promise<bigint> {
  const [wei, head] = await Promise.all([
    dataWei(ask, bytes),
    ask<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false]),
  ])
  const baseFeeWei = BigInt(head.baseFeePerGas)
  return baseFeeWei === 0n ? 0n : wei / baseFeeWei
}

async function dataWei(ask: Ask, bytes: bigint): Promise<bigint> {
  const data = gasInfo.encodeFunctionData('getL1BaseFeeEstimate')
  return bytes * BYTE_UNITS * (await readUint(ask, { to: ARB_GAS_INFO_ADDRESS, data }))
}

/** The sequencer compresses each transaction alone and quickly to tell its share of a batch. */
function compressedBytes(data: string): bigint {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  return BigInt(brotliCompressSync(toBytes(data), { params }).length)
}

function intrinsicGas({ data, to, authorizationList }: Transaction): bigint {
  const creation = to === null ? 32_000n : 0n
  const authorizations = 25_000n * BigInt(authorizationList?.length ?? 0)
  return 21_000n + creation + calldataGas(data) + authorizations
}
