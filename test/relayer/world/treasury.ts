import { Interface, toQuantity } from 'ethers'
import { owner, type World } from './fixture.js'

const token = new Interface(['function transfer(address to, uint256 value) returns (bool)'])

/** Sets the treasury's USDC balance, without mining. */
export async function leaveTreasury(world: World, units: bigint): Promise<void> {
  const { address } = world.treasury
  const held = await world.usdcOf(address)
  if (held < units) throw new Error('The treasury has less.')
  await world.rpc('anvil_setBalance', [address, toQuantity(10n ** 18n)])
  await world.rpc('anvil_impersonateAccount', [address])
  const data = token.encodeFunctionData('transfer', [owner, held - units])
  const call = { from: address, to: world.chain.usdc.address, data }
  // First in its block.
  const price = { maxFeePerGas: '0x2e90edd000', maxPriorityFeePerGas: '0x1dcd65000' }
  await world.rpc('eth_sendTransaction', [{ ...call, ...price, gas: toQuantity(200_000) }])
  await world.rpc('anvil_stopImpersonatingAccount', [address])
}

/** Clears all retry times. */
export async function skipPauses(world: World): Promise<void> {
  const now = world.db.raw('clock_timestamp()')
  await world
    .db('operation')
    .whereIn('state', ['queued', 'signed'])
    .whereNull('lease_owner')
    .update({ leased_until: null })
  await world.db('operation').where({ state: 'deferred' }).update({ retry_after: now })
}
