import { readBlock } from '../chains/read.js'
import { readL1Price } from '../chains/l1Costs.js'
import { readAnyEthPrice, readTip } from '../chains/prices.js'
import { gasCostUsd } from '../domain/money.js'
import type { ChainClient } from '../chains/connect.js'
import type { GasKind } from '../domain/plan/market.js'

/**
 * Gas of one operation through the EntryPoint, a first delegation included, and the bytes that a rollup posts
 * of its transaction, compressed. Measured on the devnet.
 */
const usual: Record<GasKind, { gas: bigint; bytes: bigint }> = {
  deposit: { gas: 283_506n, bytes: 650n },
  withdraw: { gas: 244_633n, bytes: 600n },
  swap: { gas: 240_000n, bytes: 700n },
  burn: { gas: 156_777n, bytes: 670n },
  mint: { gas: 133_637n, bytes: 450n },
}

/** What the signer would pay now for an operation of each kind, USD, with what a rollup takes for posting on L1. */
export async function readGasUsd(
  client: ChainClient,
  others: ChainClient[],
): Promise<Record<GasKind, number>> {
  const [head, tipWei, { weiPerByte }, ethPrice] = await Promise.all([
    readBlock(client, 'latest'),
    readTip(client),
    readL1Price(client),
    readAnyEthPrice(client, others),
  ])
  const weiPerGas = (head?.baseFeeWei ?? 0n) + tipWei
  const costs = Object.entries(usual).map(([kind, { gas, bytes }]) => [
    kind,
    gasCostUsd(gas * weiPerGas + bytes * weiPerByte, ethPrice),
  ])
  return Object.fromEntries(costs) as Record<GasKind, number>
}
