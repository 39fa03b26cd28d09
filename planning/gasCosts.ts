import { readL1PriceAt } from '../evm/l1Costs.js'
import { readAnyEthPrice, readGasPrice, type Place } from '../evm/prices.js'
import { gasCostUsd } from '../domain/money.js'
import type { GasKind } from '../domain/plan/market.js'

/**
 * Gas of one operation through the EntryPoint, including a first delegation, and the compressed bytes that a rollup posts
 * of its transaction. Measured on the devnet.
 */
const usual: Record<GasKind, { gas: bigint; bytes: bigint }> = {
  deposit: { gas: 283_506n, bytes: 650n },
  withdraw: { gas: 244_633n, bytes: 600n },
  swap: { gas: 240_000n, bytes: 700n },
  burn: { gas: 156_777n, bytes: 670n },
  mint: { gas: 133_637n, bytes: 450n },
}

/** `baseFeeWei`: base fee per unit of gas, where known. */
export type PricedPlace = Place & { baseFeeWei?: bigint | undefined }

/**
 * Estimated cost of an operation of each kind in USD, including the L1 data fee of a rollup. Undefined while no feed has
 * a price of ETH.
 */
export async function readGasUsd(
  place: PricedPlace,
  others: Place[],
): Promise<Record<GasKind, number> | undefined> {
  const [weiPerGas, { weiPerByte }, ethPrice] = await Promise.all([
    readGasPrice(place.client, place.baseFeeWei),
    readL1PriceAt(place.client, place),
    readAnyEthPrice(place, others),
  ])
  if (ethPrice === undefined) return undefined
  const costs = Object.entries(usual).map(([kind, { gas, bytes }]) => [
    kind,
    gasCostUsd(gas * weiPerGas + bytes * weiPerByte, ethPrice),
  ])
  return Object.fromEntries(costs) as Record<GasKind, number>
}
