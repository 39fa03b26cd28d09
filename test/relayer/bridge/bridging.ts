import { expect } from 'vitest'
import { encodeMint } from '../../../evm/bridges/cctp/contracts.js'
import { dollar, type BridgeWorld, type PlannedIntent } from './bridgeFixture.js'
import type { IntentRequest } from '../../../domain/intent/intent.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { ChainSite } from '../world/site.js'

/** A foreign devnet account for which anvil signs. */
export const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const source = 'arbitrum-sepolia'
export const destination = 'base-sepolia'
/** A fast transfer of 1 USDC costs one basis point. */
export const arrived = 999_900n

export const bridgeRequest: IntentRequest = {
  ...{ action: 'bridge', asset: 'USDC', amountUnits: dollar },
  ...{ fromChain: source, toChain: destination },
}
export const lendRequest: IntentRequest = {
  ...{ action: 'lend', asset: 'USDC', amountUnits: dollar, chain: destination },
}

/** An intent whose money is burned and attested. */
export async function burned(
  world: BridgeWorld,
  wallet: StoredWallet,
  request: IntentRequest = bridgeRequest,
): Promise<PlannedIntent> {
  const intent = await world.intend(wallet, request)
  await world.perform(intent, 1, 'bridge')
  await world.attest(intent)
  return intent
}

/** A foreign account sends the attested message, not mined yet; the transaction hash. */
export async function mintByStranger(world: BridgeWorld, intent: PlannedIntent): Promise<string> {
  const to = world.at(destination)
  const { message, attestation } = (await world.burn(intent)) ?? {}
  const attested = { message: message ?? '', attestation: attestation ?? '' }
  return to.send(stranger, encodeMint(to.chain, attested))
}

/** Makes the chain reject mints during some work. */
export async function whileRefusing(to: ChainSite, act: () => Promise<void>): Promise<void> {
  const { tokenMessenger } = to.chain.cctp
  const code = await to.rpc('eth_getCode', [tokenMessenger, 'latest'])
  await to.rpc('anvil_setCode', [tokenMessenger, '0xfe'])
  await act()
  await to.rpc('anvil_setCode', [tokenMessenger, code])
}

/** The row of a finished mint, whose money is in the wallet once. */
export async function expectMinted(world: BridgeWorld, intent: PlannedIntent, units = arrived) {
  const row = await world.row(intent, 1, 'mint')
  const done = { state: 'confirmed', success: true, units: arrived.toString() }
  expect(row).toMatchObject(done)
  const { address } = intent.wallet
  expect(await world.at(destination).usdcOf(address)).toBe(units)
  expect(await world.at(source).usdcOf(address)).toBe(0n)
  return row
}

/** Runs an activity while a chain mines blocks. */
export async function whileMining<T>(site: ChainSite, running: Promise<T>): Promise<T> {
  const isSettled = running.then(
    () => true,
    () => true,
  )
  const tick = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 20))
  while (!(await Promise.race([isSettled, tick()]))) await site.round()
  return running
}
