import { Interface, dataLength } from 'ethers'
import { divideUp } from '../domain/money.js'
import { createCache } from '../runtime/cache.js'
import { readContract, type BlockRef } from './read.js'
import { shareAtBlock } from './shareAtBlock.js'
import type { ChainClient } from './connect.js'
import type { Chain } from './registry.js'

/**
 * Precompile with the gas prices of an Arbitrum chain. Contracts can call it, so its reads are batched. They cannot
 * call NodeInterface, which estimates single calls.
 * @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference#arbgasinfo
 */
export const ARB_GAS_INFO_ADDRESS = '0x000000000000000000000000000000000000006C'

/** @see https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle */
export const GAS_PRICE_ORACLE_ADDRESS = '0x420000000000000000000000000000000000000F'

const gasInfo = new Interface(['function getL1BaseFeeEstimate() view returns (uint256)'])
/** Since the Fjord upgrade. @see https://specs.optimism.io/protocol/fjord/predeploys.html */
const oracle = new Interface(['function getL1FeeUpperBound(uint256) view returns (uint256)'])

/** Wei per byte posted on L1, after the rollup's compression. Zero when the chain posts nothing. */
export type L1Price = { weiPerByte: bigint }

/** L1 prices change by at most an eighth per L1 block of 12 s. */
const PRICE_TTL_MS = 5_000

/** Arbitrum counts each byte as L1 counts a non-zero byte of calldata. */
const GAS_PER_BYTE = 16n
/** Size for which the upper bound is read. The fixed part per transaction is negligible at this size. */
const MEASURED_BYTES = 10_000n

async function askL1Price(client: ChainClient, { block }: { block: BlockRef }): Promise<L1Price> {
  switch (client.chain.rollup) {
    case 'nitro': {
      const call = { to: ARB_GAS_INFO_ADDRESS, abi: gasInfo, name: 'getL1BaseFeeEstimate', block }
      const [weiPerGas] = await readContract(client, call)
      return { weiPerByte: (weiPerGas as bigint) * GAS_PER_BYTE }
    }
    case 'op-stack': {
      const call = { to: GAS_PRICE_ORACLE_ADDRESS, abi: oracle, name: 'getL1FeeUpperBound', block }
      const [wei] = await readContract(client, { ...call, args: [MEASURED_BYTES] })
      return { weiPerByte: divideUp(wei as bigint, MEASURED_BYTES) }
    }
    default:
      return { weiPerByte: 0n }
  }
}

/** The price of data on L1, at most 5 seconds old. Batched with other contract reads. */
export const readL1Price = createCache(
  (client: ChainClient) => askL1Price(client, { block: 'latest' }),
  {
    ttlMs: PRICE_TTL_MS,
  },
)

/** The price of data on L1 at a block. */
export const readL1PriceAt = shareAtBlock(askL1Price)

/** Signature, nonce, fees, addresses, and the rollup's fixed size per transaction. */
const ENVELOPE_BYTES = 250n
/** An address, a nonce, a chain id and a signature. */
const AUTHORIZATION_BYTES = 110n
/** Margin, because data may cost more when the transaction is included. */
const MARGIN_PERCENT = 150n
/**
 * Lowest gas price on Arbitrum, wei: half of the lower floor of its networks. L1 gas is the L1 price divided by the
 * gas price, so that more gas is needed when a congestion ends before inclusion.
 * @see https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
 */
const LOWEST_GAS_WEI = 10_000_000n

/** A call's data, and the number of its delegations. */
type Posted = { data: string; authorizations: number }

/** Highest L1 cost of a transaction: gas within its limit, or wei in addition. */
export type L1Part = { gas: bigint; feeWei: bigint }

/** The highest cost of posting a transaction, assuming that nothing of it is compressible. */
export function highestL1Part({ rollup }: Chain, price: L1Price, posted: Posted): L1Part {
  const { data, authorizations } = posted
  const bytes =
    BigInt(dataLength(data)) + ENVELOPE_BYTES + AUTHORIZATION_BYTES * BigInt(authorizations)
  const wei = (bytes * price.weiPerByte * MARGIN_PERCENT) / 100n
  return rollup === 'nitro'
    ? { gas: divideUp(wei, LOWEST_GAS_WEI), feeWei: 0n }
    : { gas: 0n, feeWei: wei }
}
