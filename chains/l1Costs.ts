import { Interface, dataLength } from 'ethers'
import { divideUp } from '../domain/money.js'
import { createCache } from '../cache.js'
import { readContract, type BlockRef } from './read.js'
import { shareAtBlock } from './shareAtBlock.js'
import type { ChainClient } from './connect.js'
import type { Chain } from './registry.js'

/**
 * Precompile that tells the prices of an Arbitrum chain. Contracts reach it, so that it is asked together with
 * others; NodeInterface, which estimates single calls, they do not.
 * @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference#arbgasinfo
 */
export const ARB_GAS_INFO_ADDRESS = '0x000000000000000000000000000000000000006C'

/** @see https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle */
export const GAS_PRICE_ORACLE_ADDRESS = '0x420000000000000000000000000000000000000F'

const gasInfo = new Interface(['function getL1BaseFeeEstimate() view returns (uint256)'])
/** Since the Fjord upgrade. @see https://specs.optimism.io/protocol/fjord/predeploys.html */
const oracle = new Interface(['function getL1FeeUpperBound(uint256) view returns (uint256)'])

/** Wei per byte that is posted on L1, compressed as the rollup does. Zero where nothing is posted. */
export type L1Price = { weiPerByte: bigint }

/** L1 prices move by an eighth within its block time of 12 s at most. */
const PRICE_TTL_MS = 5_000

/** Arbitrum counts each byte as L1 does one of calldata that is not zero. */
const GAS_PER_BYTE = 16n
/** Of so many bytes the bound is told; what it adds to each transaction counts for little there. */
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

/** The price of data on L1, at most 5 seconds old. Asked together with other contracts. */
export const readL1Price = createCache(
  (client: ChainClient) => askL1Price(client, { block: 'latest' }),
  {
    ttlMs: PRICE_TTL_MS,
  },
)

/** The same as the chain has it at a block. */
export const readL1PriceAt = shareAtBlock(askL1Price)

/** Signature, nonce, fees, addresses, and what a rollup counts for each transaction. */
const ENVELOPE_BYTES = 250n
/** An address, a nonce, a chain id and a signature. */
const AUTHORIZATION_BYTES = 110n
/** Data may be dearer by the time the transaction is there. */
const MARGIN_PERCENT = 150n
/**
 * What a unit of gas costs on Arbitrum at the least, wei: half of the lower floor of its networks. L1's part
 * is its price divided by that of gas: when a congestion ends before inclusion, more gas is needed for it.
 * @see https://docs.arbitrum.io/build-decentralized-apps/reference/chain-params
 */
const LOWEST_GAS_WEI = 10_000_000n

/** What is sent: the call's data, and how many accounts it delegates. */
type Posted = { data: string; authorizations: number }

/** What L1 may take of a transaction: gas within its limit, or wei beside it. */
export type L1Part = { gas: bigint; feeWei: bigint }

/** The most that posting a transaction may take: as if nothing of it could be compressed. */
export function highestL1Part({ rollup }: Chain, price: L1Price, posted: Posted): L1Part {
  const { data, authorizations } = posted
  const bytes =
    BigInt(dataLength(data)) + ENVELOPE_BYTES + AUTHORIZATION_BYTES * BigInt(authorizations)
  const wei = (bytes * price.weiPerByte * MARGIN_PERCENT) / 100n
  return rollup === 'nitro'
    ? { gas: divideUp(wei, LOWEST_GAS_WEI), feeWei: 0n }
    : { gas: 0n, feeWei: wei }
}
