import { toQuantity } from 'ethers'
import { createReplacer } from '../../../signer/replace.js'
import type { World } from './fixture.js'

/** The base fee of the newest block, wei. */
export async function readBaseFee({ rpc }: World): Promise<bigint> {
  const head = await rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false])
  return BigInt(head.baseFeePerGas)
}

/** Mines blocks, each at this base fee, wei. */
export async function mineAt(world: World, baseFeeWei: bigint, blocks = 1): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await world.rpc('anvil_setNextBlockBaseFeePerGas', [toQuantity(baseFeeWei)])
    await world.mine()
  }
}

/** Bytes that a node has may be sent again at once. */
export function forgetSent({ driver }: World): void {
  const { sentAt } = driver()
  for (const [hash, at] of sentAt) sentAt.set(hash, at - 60_000)
}

/** Signs anew what is stuck, as the signer does beside all other signing. */
export async function replaceStuck({ signer }: World): Promise<void> {
  await Promise.all(signer.chains.list.map((client) => createReplacer(signer, client)()))
}
