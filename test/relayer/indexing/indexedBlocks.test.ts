import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities } from '../../../activities/index.js'
import {
  findChainState,
  readHeaders,
  type IndexedChain,
} from '../../../operations/indexing/indexedBlocks.js'
import { indexChain } from '../../../relayer/indexChain.js'
import { createWorld, finalityBlocks, usdcUnits, type Lend, type World } from '../world/fixture.js'
import { setFrozen } from '../world/scenes/freeze.js'
import { executeFirst } from '../world/scenes/stranger.js'
import { outcomesByHand } from '../../support/outcomes.js'
import type { DepositStep, StepPlan } from '../../../domain/intent/intent.js'
import type { Decide } from '../../support/faultProxy.js'

const otherHash = `0x${'ab'.repeat(32)}`

const [asSigned, asOpen] = [
  { state: 'signed', block_hash: null, block_number: null, log_index: null, success: null },
  { state: 'open', mined_send: null, block_number: null, block_hash: null },
]

type RpcBlock = { number: string; hash: string; parentHash: string }
type RpcReceipt = { blockNumber: string; blockHash: string; logs: object[] }

let world: World
let lend: Lend

beforeAll(async () => {
  world = await createWorld({ senderCount: 1, confirmations: 2 })
})
beforeEach(async () => {
  lend = await world.lend(await world.createWallet(2n * usdcUnits), usdcUnits)
})
afterEach(() => world.proxy.set(undefined))
afterAll(() => world?.stop())

const stateOf = async () => {
  const state = await findChainState(world.db, world.chain.chainId)
  return state as IndexedChain
}
const readBlock = (at: bigint | string) =>
  world.rpc<RpcBlock>('eth_getBlockByNumber', [
    typeof at === 'bigint' ? `0x${at.toString(16)}` : at,
    false,
  ])
const mineSent = async () => {
  await world.sign()
  await world.broadcast()
  await world.mine()
}
const expectNothingIndexed = async () => {
  expect(await world.row(lend.operationId)).toMatchObject({ state: 'signed', block_hash: null })
  expect((await world.transactions()).at(-1)).toMatchObject({ state: 'open' })
  expect(await world.reservation(lend.intentId)).toMatchObject({ spent_block: null })
}
const expectDoneOnce = async () => {
  world.proxy.set(undefined)
  await world.mine()
  await world.index()
  const row = await world.row(lend.operationId)
  expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
  expect((await readBlock(BigInt(row?.block_number ?? 0))).hash).toBe(row?.block_hash)
  expect(await world.deposited(lend.wallet.address)).toBe(usdcUnits)
}

describe('only blocks of one chain are indexed', () => {
  test('blocks of two forks in one round index nothing', async () => {
    const { indexed } = await stateOf()
    await mineSent()
    await world.mine(2)
    const middle = await readBlock(indexed.number + 2n)
    const foreign = { ...middle, hash: otherHash, parentHash: otherHash }
    world.proxy.set(({ method, params: [at] }) => {
      if (method === 'eth_getBlockByNumber' && at === middle.number) return { answer: foreign }
      const isForeign = method === 'eth_getLogs' && (at as { blockHash: string }).blockHash
      return isForeign === otherHash ? { answer: [] } : undefined
    })
    await world.index()
    await expectNothingIndexed()
    expect(await stateOf()).toMatchObject({ indexed })
    await expectDoneOnce()
  })

  test('a block with another parent rolls the indexed block and its outcomes back', async () => {
    await mineSent()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'mined' })
    await world.rpc('anvil_reorg', [1, []])
    await world.rpc('anvil_dropAllTransactions')
    await world.mine(3)
    await world.index()
    await expectNothingIndexed()
    await world.broadcast()
    await world.mine()
    await expectDoneOnce()
  })

  test('a driver continues from an indexed block that was set back, as by a backup', async () => {
    await world.mine()
    await world.index()
    const earlier = await world.db('chain').first<{ indexed_block: bigint }>()
    await mineSent()
    await world.index()
    await world.mine()
    await world.index()
    await world.db('operation').where({ id: lend.operationId }).update(asSigned)
    await world.db('chain_tx').where({ state: 'mined' }).update(asOpen)
    await world.db('block_header').where('number', '>', earlier.indexed_block.toString()).delete()
    await world.db('chain').update(earlier)
    await expectDoneOnce()
  })

  test('a final block with another hash ends no watch', async () => {
    await mineSent()
    await world.mine()
    await world.index()
    const before = await stateOf()
    const head = await readBlock('latest')
    const foreign = { answer: { ...head, hash: otherHash } }
    world.proxy.set(({ params: [at] }) => (at === 'finalized' ? foreign : undefined))
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed' })
    const state = await stateOf()
    expect(state.indexed.number).toBe(before.indexed.number + 1n)
    expect(state.finalizedBlock).toBe(before.finalizedBlock)
    expect((await readHeaders(world.db, world.chain.chainId)).at(-1)?.number).toBe(
      before.finalizedBlock,
    )
    world.proxy.set(undefined)
    await world.mine(finalityBlocks)
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'final' })
  })

  test('a transaction above the finalized range is not indexed with it, and a reorg may remove it', async () => {
    await world.sign()
    await world.mine(80)
    await world.broadcast()
    await world.mine(3)
    const { indexed } = await stateOf()
    expect(await indexChain(world.driver())).toBe(true)
    expect((await stateOf()).indexed.number).toBeGreaterThan(indexed.number + 50n)
    await expectNothingIndexed()
    await world.rpc('anvil_reorg', [4, []])
    await world.rpc('anvil_dropAllTransactions')
    await world.mine()
    await world.index()
    await expectNothingIndexed()
    world.driver().sentAt.clear()
    await world.broadcast()
    await world.mine()
    await expectDoneOnce()
  })

  /** A receipt from another fork than the block. */
  const foreignReceipt = async (hash: string): Promise<Decide> => {
    const receipt = await world.rpc<RpcReceipt>('eth_getTransactionReceipt', [hash])
    const logs = receipt.logs.map((log) => ({ ...log, blockHash: otherHash }))
    const answer = { ...receipt, blockHash: otherHash, logs }
    return ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === hash ? { answer } : undefined
  }
  const tryToIndex = () => expect(indexChain(world.driver())).rejects.toThrow('another block')

  test('error: a receipt of another block than the header indexes nothing', async () => {
    await mineSent()
    const decide = await foreignReceipt((await world.sends()).at(-1)?.hash ?? '')
    world.proxy.set(decide)
    await tryToIndex()
    await expectNothingIndexed()
    await expectDoneOnce()
  })

  test('error: the receipt of a foreign transaction of another block than the log indexes nothing', async () => {
    await mineSent()
    await world.mine()
    await world.index()
    const { wallet } = lend
    lend = await world.lend(wallet, usdcUnits)
    await world.sign()
    world.proxy.set(await foreignReceipt(await executeFirst(world, lend.operationId)))
    await tryToIndex()
    await expectNothingIndexed()
    world.proxy.set(undefined)
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.deposited(wallet.address)).toBe(2n * usdcUnits)
  })
})

describe('two deposits of one wallet in one transaction', () => {
  test('each is indexed from the logs of its own call', async () => {
    const { wallet } = lend
    const second = await world.lend(wallet, usdcUnits / 2n)
    await mineSent()
    await world.index()
    const [one, other] = [await world.row(lend.operationId), await world.row(second.operationId)]
    expect(one?.tx_hash).toBe(other?.tx_hash)
    expect([one?.units, other?.units]).toEqual(['1000000', '500000'])
    expect(await world.deposited(wallet.address)).toBe(1_500_000n)
  })
})

describe('a chain with two confirmations', () => {
  /** One attempt of the step's activity, in a worker that stops. */
  async function attempt() {
    const { intentId, wallet } = lend
    const intent = world.db('intent').where({ id: intentId })
    const { plan } = await intent.first<{ plan: StepPlan }>('plan')
    const activities = createActivities({
      ...{ db: world.workerDb, chains: world.signer.chains, registry: world.registry },
      ...{ outcomes: outcomesByHand(), bridgeGiveUpMs: 3_600_000 },
      stopping: AbortSignal.abort(),
    })
    const owning = { intentId, accountId: wallet.accountId, walletId: wallet.id }
    const step = plan.steps[0] as DepositStep
    const input = { ...owning, step, deadlineMs: Date.now() + 3_600_000 }
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
    return environment.run(activities.deposit, input)
  }
  const waits = { type: 'WAITING', nonRetryable: false }

  test('success finishes the step at the second block, not at the first', async () => {
    await mineSent()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'mined', success: true })
    await expect(attempt()).rejects.toMatchObject(waits)
    await world.mine()
    await world.index()
    const { tx_hash: txHash } = (await world.row(lend.operationId)) ?? {}
    expect(await attempt()).toEqual({ txHash, units: '1000000' })
  })

  test('failure finishes the step at the second block, not at the first', async () => {
    await world.sign()
    await setFrozen(world, true)
    await world.broadcast()
    await world.mine()
    await world.index()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'mined', success: false })
    await expect(attempt()).rejects.toMatchObject(waits)
    await setFrozen(world, false)
    await world.index()
    const failed = { type: 'DEPOSIT_FAILED', nonRetryable: true }
    await expect(attempt()).rejects.toMatchObject(failed)
    expect(await world.usdcOf(lend.wallet.address)).toBe(2n * usdcUnits)
  })
})
