import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { bridgeRequest, destination, expectMinted, source } from './bridging.js'
import { createBridgeWorld, dollar, type BridgeWorld, type PlannedIntent } from './bridgeFixture.js'
import { owner } from '../world/fixture.js'
import { Interface } from 'ethers'

const crowd = 100
/** A sender has fewer open transactions than this. */
const openAtOnce = 10
const perSecond = 22
const token = new Interface(['function mint(address to, uint256 amount)'])

let world: BridgeWorld
beforeAll(async () => {
  world = await createBridgeWorld([source, destination])
})
afterAll(() => world?.stop())

/** Wallets with 1 USDC each, in an indexed block. */
async function createRichWallets() {
  const from = world.at(source)
  const wallets = await Promise.all(Array.from({ length: crowd }, () => world.createWallet()))
  for (const { address } of wallets) {
    const data = token.encodeFunctionData('mint', [address, dollar])
    await from.send(owner, { to: from.chain.usdc.address, data })
  }
  await from.mine()
  await from.index()
  return wallets
}

/** Burns each intent's money in its own transaction, the worst case. */
async function burnApart(intents: PlannedIntent[]): Promise<void> {
  const from = world.at(source)
  for (const [i, intent] of intents.entries()) {
    await world.submit(intent, 1, 'bridge')
    await from.sign()
    if ((i + 1) % openAtOnce > 0) continue
    await from.broadcast()
    await from.mine()
    await from.index()
  }
  await from.mine()
}

const hasRows = async (query: Promise<{ count: bigint }[]>) => ((await query)[0]?.count ?? 0n) > 0n
const isWaiting = () => hasRows(world.db('burn').whereNull('message').count())
const isMinting = () =>
  hasRows(world.db('operation').where({ kind: 'mint' }).whereNot({ state: 'confirmed' }).count())

test('100 concurrent bridges are requested about once each, and the service never blocks us', async () => {
  await world.stopAttester()
  const wallets = await createRichWallets()
  const intents: PlannedIntent[] = []
  for (const wallet of wallets) intents.push(await world.intend(wallet, bridgeRequest))
  await burnApart(intents)
  const hashes = await world.db('operation').distinct('tx_hash').pluck<string[]>('tx_hash')
  expect(hashes).toHaveLength(crowd)

  const before = world.front.requests.length
  const begun = performance.now()
  await world.restartAttester()
  while (await isWaiting()) await sleep(50)
  const seconds = (performance.now() - begun) / 1_000

  const requests = world.front.requests.slice(before)
  expect(requests.filter((request) => request.includes('/messages/'))).toHaveLength(crowd)
  expect(world.iris.blocks()).toBe(0)
  // The requests fit into twice the usual time at the allowed rate.
  const [, usual] = world.at(source).chain.cctp.seconds.fast
  expect(requests.length / perSecond).toBeLessThan(2 * usual)
  process.stdout.write(`${crowd} bridges: ${requests.length} requests in ${seconds.toFixed(1)} s\n`)

  for (const intent of intents) await world.submit(intent, 1, 'mint')
  const to = world.at(destination)
  while (await isMinting()) await to.round()
  for (const intent of intents) await expectMinted(world, intent)
}, 400_000)
