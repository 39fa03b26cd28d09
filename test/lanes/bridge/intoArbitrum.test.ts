import { afterAll, beforeAll, expect, test } from 'vitest'
import { readContractBlock } from '../../../chains/read.js'
import { createBridgeWorld, dollar, type BridgeWorld, type Planned } from './bridgeFixture.js'
import { arrived } from './bridging.js'
import type { BridgeStep, IntentRequest } from '../../../domain/intent.js'
import type { Site } from '../world/site.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const
const request: IntentRequest = {
  ...{ action: 'bridge', asset: 'USDC', amountUnits: dollar },
  ...{ fromChain: base, toChain: arbitrum },
}
/** As contracts of Arbitrum count them: far fewer than the chain has mined. */
const fastLifeBlocks = 5

let world: BridgeWorld
let from: Site
let to: Site
beforeAll(async () => {
  world = await createBridgeWorld([arbitrum, base], { fastLifeBlocks })
  ;[from, to] = [world.at(base), world.at(arbitrum)]
})
afterAll(() => world?.stop())

async function burned(): Promise<Planned> {
  const wallet = await world.createWallet({ [base]: dollar })
  const intent = await world.intend(wallet, request)
  await world.perform(intent, 1, 'bridge')
  await world.attest(intent)
  return intent
}

const renewals = () =>
  world.front.asked.filter((question) => question.startsWith('POST /v2/reattest'))

/** What the activity of the mint does, while the lanes of the destination go on. */
async function mint(intent: Planned): Promise<unknown> {
  const { eventNonce } = (await world.burn(intent)) ?? {}
  const input = { ...world.stepInput<BridgeStep>(intent), nonce: eventNonce ?? '' }
  let isOver = false
  const minting = world.run(world.activities.mint, input).finally(() => (isOver = true))
  minting.catch(() => undefined)
  while (!isOver) await to.round()
  return minting
}

test('a message that has not expired, by the number that contracts see, is minted as it is', async () => {
  await to.mine(20)
  const intent = await burned()
  const { message } = (await world.burn(intent)) ?? {}
  const seen = await readContractBlock(to.client)
  const height = BigInt(await to.rpc<string>('eth_blockNumber'))
  expect(height).toBeGreaterThan(seen + BigInt(fastLifeBlocks))
  // Another bridge comes and goes meanwhile: the lanes have looked at both.
  await burned()
  expect(await mint(intent)).toMatchObject({ units: arrived.toString() })
  expect((await world.burn(intent))?.message).toBe(message)
  expect(renewals()).toEqual([])
  expect(await to.usdcOf(intent.wallet.address)).toBe(arrived)
})

test('one that has expired is attested anew and minted, and no other one is asked for', async () => {
  await world.setFaults({ expire: true })
  const intent = await burned()
  const { message, eventNonce } = (await world.burn(intent)) ?? {}
  await expect(mint(intent)).rejects.toMatchObject({ type: 'WAITING', nonRetryable: false })
  while (renewals().length === 0) await from.mine()
  // Final at the source: the new one is made from there.
  await from.mine(4)
  while ((await world.burn(intent))?.message === message) await new Promise(setImmediate)
  const asked = renewals().length
  expect(await mint(intent)).toMatchObject({ units: arrived.toString() })
  expect(renewals()).toHaveLength(asked)
  expect(renewals().every((question) => question.endsWith(eventNonce ?? ''))).toBe(true)
  expect(await to.usdcOf(intent.wallet.address)).toBe(arrived)
})
