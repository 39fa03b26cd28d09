import { brotliCompressSync, constants } from 'node:zlib'
import { Interface, toQuantity } from 'ethers'
import { ARB_GAS_INFO_ADDRESS } from '../../../evm/l1Costs.js'
import { toBytes, type Sent } from '../sent.js'
import { REFUSED, calldataGas, readRaw, readUint, type Ask, type Rollup } from './rollup.js'

const gasInfo = new Interface(['function getL1BaseFeeEstimate() view returns (uint256)'])
const baseFeeCall = gasInfo.encodeFunctionData('getL1BaseFeeEstimate')

/** L1 gas of a byte of compressed data. */
const BYTE_UNITS = 16n

/**
 * An estimate assumes more expensive data and cheaper gas than current: together about a quarter more.
 * @see https://github.com/OffchainLabs/nitro/blob/master/arbos/l1pricing/l1pricing.go
 */
const ESTIMATE_PERCENT = 126n
/** Bytes of the signature and of the other fields that an estimated call does not have yet. */
const ESTIMATE_BYTES = 110n

/**
 * Arbitrum Nitro: the gas limit and the gas used of a transaction include the gas for L1.
 * @see https://docs.arbitrum.io/how-arbitrum-works/deep-dives/gas-and-fees
 */
export const nitro: Rollup = {
  // First come, first served: tips have no effect and are not charged.
  tipWei: 0n,

  async refusalOf(ask, sent) {
    const needed = intrinsicGas(sent) + (await dataGas(ask, compressedBytes(sent.bytes)))
    if (sent.gasLimit >= needed) return undefined
    const message = `intrinsic gas too low: have ${sent.gasLimit}, want ${needed}`
    return { code: REFUSED, message }
  },

  async toReceipt(ask, receipt) {
    const [raw, byteWei] = await Promise.all([readRaw(ask, receipt), readByteWei(ask)])
    if (!raw) return receipt
    const price = BigInt(receipt.effectiveGasPrice)
    const gas = price === 0n ? 0n : (compressedBytes(raw) * byteWei) / price
    const gasUsed = toQuantity(BigInt(receipt.gasUsed) + gas)
    return { ...receipt, gasUsed, ...{ gasUsedForL1: toQuantity(gas) } }
  },

  async estimateOnTop(ask, data) {
    const gas = await dataGas(ask, compressedBytes(toBytes(data)) + ESTIMATE_BYTES)
    return (gas * ESTIMATE_PERCENT) / 100n
  },
}

async function dataGas(ask: Ask, bytes: bigint): Promise<bigint> {
  const [byteWei, head] = await Promise.all([
    readByteWei(ask),
    ask<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false]),
  ])
  const baseFeeWei = BigInt(head.baseFeePerGas)
  return baseFeeWei === 0n ? 0n : (bytes * byteWei) / baseFeeWei
}

/** Current cost of a byte of compressed data on L1. */
async function readByteWei(ask: Ask): Promise<bigint> {
  return BYTE_UNITS * (await readUint(ask, { to: ARB_GAS_INFO_ADDRESS, data: baseFeeCall }))
}

/** The sequencer compresses each transaction alone and quickly to estimate its share of a batch. */
function compressedBytes(data: Buffer): bigint {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  return BigInt(brotliCompressSync(data, { params }).length)
}

function intrinsicGas({ data, isCreation, authorizations }: Sent): bigint {
  const creation = isCreation ? 32_000n : 0n
  return 21_000n + creation + calldataGas(data) + 25_000n * BigInt(authorizations)
}
