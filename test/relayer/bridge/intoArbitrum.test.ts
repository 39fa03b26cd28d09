import { afterAll, beforeAll, expect, test } from 'vitest'
import { readContractBlock } from '../../../evm/read.js'
import { createBridgeWorld, dollar, type BridgeWorld, type PlannedIntent } from './bridgeFixture.js'
import { arrived } from './bridging.js'
import type { BridgeStep, IntentRequest } from '../../../domain/intent/intent.js'
import type { ChainSite } from '../world/site.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const
const request: IntentRequest = {
  ...{ action: 'bridge', asset: 'USDC', amountUnits: dollar },
  ...{ fromChain: base, toChain: arbitrum },
}
/** Block numbers of Arbitrum's contracts: far fewer than the chain's blocks. */
const fastLifeBlocks = 5

let world: BridgeWorld
let from: ChainSite
let to: ChainSite
beforeAll(async () => {
  world = await createBridgeWorld([arbitrum, base], { fastLifeBlocks })
  ;[from, to] = [world.at(base), world.at(arbitrum)]
})
afterAll(() => world?.stop())

async function burned(): Promise<PlannedIntent> {
  const wallet = await world.createWallet({ [base]: dollar })
  const intent = await world.intend(wallet, request)
  await world.perform(intent, 1, 'bridge')
  await world.attest(intent)
  return intent
}

const renewals = () =>
  world.front.requests.filter((request) => request.startsWith('POST /v2/reattest'))

/** Runs the mint's activity while the destination's relayer works. */
async function mint(intent: PlannedIntent): Promise<unknown> {
  const { eventNonce } = (await world.burn(intent)) ?? {}
  const input = { ...world.stepInput<BridgeStep>(intent), nonce: eventNonce ?? '' }
  let hasEnded = false
  const minting = world.run(world.activities.mint, input).finally(() => (hasEnded = true))
  minting.catch(() => undefined)
  while (!hasEnded) await to.round()
  return minting
}

test("a message that has not expired by the contracts' block number is minted unchanged", async () => {
  await to.mine(20)
  const intent = await burned()
  const { message } = (await world.burn(intent)) ?? {}
  const seen = await readContractBlock(to.client)
  const height = BigInt(await to.rpc<string>('eth_blockNumber'))
  expect(height).toBeGreaterThan(seen + BigInt(fastLifeBlocks))
  // Another bridge runs meanwhile, so both were checked.
  await burned()
  expect(await mint(intent)).toMatchObject({ units: arrived.toString() })
  expect((await world.burn(intent))?.message).toBe(message)
  expect(renewals()).toEqual([])
  expect(await to.usdcOf(intent.wallet.address)).toBe(arrived)
})

test('an expired one is attested again and minted, and no other one is requested', async () => {
  await world.setFaults({ expire: true })
  const intent = await burned()
  const { message, eventNonce } = (await world.burn(intent)) ?? {}
  await expect(mint(intent)).rejects.toMatchObject({ type: 'WAITING', nonRetryable: false })
  while (renewals().length === 0) await from.mine()
  // Final on the source chain, from where the new one is made.
  await from.mine(4)
  while ((await world.burn(intent))?.message === message) await new Promise(setImmediate)
  const before = renewals().length
  expect(await mint(intent)).toMatchObject({ units: arrived.toString() })
  expect(renewals()).toHaveLength(before)
  expect(renewals().every((request) => request.endsWith(eventNonce ?? ''))).toBe(true)
  expect(await to.usdcOf(intent.wallet.address)).toBe(arrived)
})
