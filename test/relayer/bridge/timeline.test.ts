import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { intentBody } from '../../../api/endpoints/intents/intentBody.js'
import { intent as intentSchema } from '../../../api/schemas/intents.js'
import { getIntent } from '../../../db/intents/intents.js'
import { createBridgeWorld, dollar, type BridgeWorld, type PlannedIntent } from './bridgeFixture.js'
import { destination, lendRequest, source } from './bridging.js'

let world: BridgeWorld
beforeAll(async () => {
  world = await createBridgeWorld([source, destination])
})
afterAll(async () => {
  await world?.setFaults({ stuck: false })
  await world?.stop()
})

/** The intent as callers read it. */
async function read({ id, accountId }: PlannedIntent) {
  const { intent, timeline } = await getIntent(world.db, accountId, id)
  return intentSchema.parse(intentBody(world.registry, intent, { timeline, scopes: ['write'] }))
}
const partsOf = async (intent: PlannedIntent) => {
  const { operations = [] } = (await read(intent)).executionPlan?.steps[0] ?? {}
  return operations.map(({ type, status, chain }) => [type, status, chain])
}
const blockOf = async (chain: string, number: number) => {
  const block = await world
    .at(chain)
    .rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
  return block as { timestamp: string; transactions: string[] }
}

describe('the timeline of a lend over the bridge', () => {
  test('waits for the attestation with the reason, the time and the location of the money, then continues', async () => {
    await world.setFaults({ stuck: true })
    const wallet = await world.createWallet({ [source]: dollar })
    const intent = await world.intend(wallet, lendRequest)
    expect(await read(intent)).toMatchObject({
      funds: [{ chain: source, asset: 'USDC', amount: '1' }],
      executionPlan: { steps: [{ status: 'pending' }, { status: 'pending' }] },
    })

    await world.perform(intent, 1, 'bridge')
    await world.at(source).mine(1)
    const burn = await world.row(intent, 1, 'bridge')
    const { burnedAt } = (await world.burn(intent)) ?? {}
    const waitingFor = {
      ...{ code: 'ATTESTATION', since: burnedAt?.toISOString(), usualSeconds: 3 },
      message: `Burned on ${source}. Waits for the attestation.`,
    }
    const held = await read(intent)
    expect(held).toMatchObject({
      ...{ status: 'executing', currentStep: 1, waitingFor },
      funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
      executionPlan: {
        steps: [{ status: 'waiting', waitingFor, txHash: burn?.tx_hash }, { status: 'pending' }],
      },
    })
    expect(await partsOf(intent)).toEqual([
      ['burn', 'completed', source],
      ['attestation', 'waiting', source],
      ['mint', 'pending', destination],
    ])

    await world.setFaults({ stuck: false })
    await world.restartAttester()
    await world.attest(intent)
    await world.perform(intent, 1, 'mint')
    await world.perform(intent, 2, 'deposit')
    await world.activities.finalizeIntent({ intentId: intent.id })
    const done = await read(intent)
    expect(done).toMatchObject({
      status: 'completed',
      funds: [{ chain: destination, asset: 'USDC', amount: '0.9999', protocol: 'aave-v3' }],
      executionPlan: { steps: [{ status: 'completed' }, { status: 'completed' }] },
    })
    expect(done).not.toHaveProperty('waitingFor')
    expect(await partsOf(intent)).toEqual([
      ['burn', 'completed', source],
      ['attestation', 'completed', source],
      ['mint', 'completed', destination],
    ])
    const operations = done.executionPlan?.steps[0]?.operations ?? []
    const times = operations.flatMap(({ startedAt, endedAt }) => [startedAt ?? '', endedAt ?? ''])
    expect(times.every((time) => time !== '')).toBe(true)
    // The money is visible before the block is confirmed, and minted after the attestation.
    const [burnStart, burnEnd, , attested, , mintEnd] = times
    expect([burnStart, burnEnd, attested, mintEnd]).toEqual(
      [burnStart, burnEnd, attested, mintEnd].sort(),
    )
  })

  test("each transaction names its step, and its block with the block's time", async () => {
    const wallet = await world.createWallet({ [source]: dollar })
    const intent = await world.intend(wallet, lendRequest)
    await world.perform(intent, 1, 'bridge')
    await world.attest(intent)
    await world.perform(intent, 1, 'mint')
    await world.perform(intent, 2, 'deposit')
    const { transactions = [] } = (await read(intent)).results ?? {}
    expect(transactions.map(({ type, step }) => [type, step])).toEqual([
      ['bridge', 1],
      ['mint', 1],
      ['deposit', 2],
    ])
    for (const { chain, txHash, blockNumber = 0, timestamp = '' } of transactions) {
      const block = await blockOf(chain, blockNumber)
      expect(block.transactions).toContain(txHash)
      expect(Date.parse(timestamp)).toBe(Number(block.timestamp) * 1_000)
    }
  })
})
