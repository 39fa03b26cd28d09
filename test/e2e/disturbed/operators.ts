import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@temporalio/client'
import { resumeWork, pauseWork } from '../../../db/pauses.js'
import { connectTemporal } from '../../../workflows/client/connect.js'
import type { ChainName } from '../../../evm/registry.js'
import { readWalletBalances } from '../balances.js'
import { expectConserved, expectTransactions } from '../money.js'
import { until } from '../stack.js'
import { isWaiting, untilViewed, type WorkflowView } from '../workflowView.js'
import { type OwnWorld, type Wallet } from '../world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const

const lend = (chain: ChainName) => ({ action: 'lend', amount: 1, chain })

/** Manual actions of an operator, and the resulting status. */
export function testOperators(open: () => OwnWorld): void {
  let world: OwnWorld
  let temporal: Client

  beforeAll(() => {
    world = open()
    const { temporalAddress, temporalNamespace } = world.stack.facts
    temporal = connectTemporal(temporalAddress, temporalNamespace)
  })
  afterAll(() => temporal?.connection.close())

  const untilSeen = (id: string, holds: (view: WorkflowView) => boolean) =>
    untilViewed(temporal, id, holds)
  const untilWaiting = (id: string, text: string, code: string) =>
    untilSeen(id, isWaiting(text, code))

  /** The pending activity, if it has this name. */
  async function untilPending(id: string, type: string): Promise<{ activityId: string }> {
    const named = (view: WorkflowView) =>
      view.pending.find(({ activityType }) => activityType?.name === type)
    const view = await untilSeen(id, (now) => named(now) !== undefined)
    return { activityId: named(view)?.activityId ?? '' }
  }

  async function forge(id: string, type: string, how: 'complete' | 'fail'): Promise<void> {
    const { activityId } = await untilPending(id, type)
    const target = { workflowId: id, activityId }
    const result = { txHash: '0xforged', units: '1', nonce: `0x${'ab'.repeat(32)}` }
    if (how === 'complete') await temporal.activity.complete(target, result)
    else await temporal.activity.fail(target, new Error('by hand'))
  }

  const leftOn = async (chain: ChainName, wallet: Wallet) =>
    (await readWalletBalances(world.nodes[chain], wallet)).usdc

  /**
   * A new run follows a failed run without a final status within two minutes. A run with a recovery mark gets one
   * within seconds.
   */
  const markToRestart = (id: string) =>
    world.db('intent').where({ id }).update({ recover_at: world.db.fn.now() })

  describe('an activity that is completed or failed by hand', () => {
    test.each(['complete', 'fail'] as const)(
      '%s before anything is signed: the intent continues, and the money is lent once',
      async (how) => {
        const wallet = await world.createWallet({ [arbitrum]: '1' })
        world.signal('signer', 'SIGSTOP')
        const { id } = await world.create(wallet, lend(arbitrum))
        await forge(id, 'deposit', how)
        if (how === 'complete') await markToRestart(id)
        await untilPending(id, 'deposit')
        expect((await world.call('GET', `/intents/${id}`)).body.status).toBe('executing')
        world.signal('signer', 'SIGCONT')
        const finished = await world.untilFinished(id)
        expect(finished).toMatchObject({ status: 'completed', results: { completedSteps: 1 } })
        await expectTransactions(world, finished, [`deposit ${arbitrum}`])
        expect(await leftOn(arbitrum, wallet)).toBe(0n)
        await expectConserved(world, wallet)
      },
    )

    test.each(['complete', 'fail'] as const)(
      '%s at each operation of a bridge: nothing is burned twice, lost or left on the way',
      async (how) => {
        const wallet = await world.createWallet({ [arbitrum]: '1' })
        await world.setFaults({ stuck: true })
        world.signal('signer', 'SIGSTOP')
        const { id } = await world.create(wallet, lend(base))
        await forge(id, 'bridge', how)
        // A burn accepted as done leads to the wait for its attestation.
        const next = how === 'complete' ? 'awaitAttestation' : 'bridge'
        await untilPending(id, next)
        world.signal('signer', 'SIGCONT')
        await untilPending(id, 'awaitAttestation')
        await forge(id, 'awaitAttestation', how)
        if (how === 'complete') await markToRestart(id)
        await world.setFaults({ stuck: false })
        const finished = await world.untilFinished(id)
        expect(finished).toMatchObject({ status: 'completed', results: { completedSteps: 2 } })
        const order = [`bridge ${arbitrum}`, `mint ${base}`, `deposit ${base}`]
        await expectTransactions(world, finished, order)
        expect(await leftOn(arbitrum, wallet)).toBe(0n)
        expect(await expectConserved(world, wallet)).toBe(0n)
      },
    )
  })

  describe('the wait reason of an intent is shown by its workflow', () => {
    test('a pause shows the operator, the reason and its start, until it is resumed', async () => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const chain = { scope: 'chain', subject: '421614' } as const
      const { id: chainId } = await world
        .db('chain')
        .where({ name: arbitrum })
        .first<{ id: bigint }>('id')
      const target = { ...chain, subject: chainId.toString() }
      world.signal('signer', 'SIGSTOP')
      const { id } = await world.create(wallet, lend(arbitrum))
      await untilPending(id, 'deposit')
      await pauseWork(world.db, target, { by: 'alice', why: 'a market looks odd' })
      world.signal('signer', 'SIGCONT')
      const paused = await untilWaiting(id, 'PAUSED', 'PAUSED')
      expect(paused.details).toMatch(
        /^\*\*Waits\*\* since .*alice paused the chain at .*: a market looks odd/,
      )
      expect(paused.attributes).toMatchObject({ WaitingFor: ['PAUSED'], SourceChain: arbitrum })
      await resumeWork(world.db, target, { by: 'alice', why: 'it is well' })
      expect(await world.untilFinished(id)).toMatchObject({ status: 'completed' })
    }, 180_000)
  })

  test('the search attributes separate failed, cancelled and completed intents', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '3' })
    const simulate = { metadata: { simulate: 'DEPOSIT_FAILED' } }
    const failed = await world.create(wallet, { ...lend(arbitrum), ...simulate })
    await world.untilFinished(failed.id)
    const completed = await world.create(wallet, lend(arbitrum))
    await world.untilFinished(completed.id)
    world.signal('signer', 'SIGSTOP')
    const cancelled = await world.create(wallet, lend(arbitrum))
    await untilPending(cancelled.id, 'deposit')
    expect(await world.call('POST', `/intents/${cancelled.id}/cancel`, {})).toMatchObject({
      status: 200,
    })
    world.signal('signer', 'SIGCONT')
    const { user_id: user } = await world
      .db('wallet')
      .where({ id: wallet.id })
      .first<{ user_id: string }>('user_id')
    const find = async (query: string) => {
      const ids: string[] = []
      const list = temporal.workflow.list({ query: `UserId = '${user}' AND ${query}` })
      for await (const { workflowId } of list) ids.push(workflowId)
      return ids
    }
    const finds = (query: string, ids: string[]) =>
      until(
        () => find(query),
        (found) => JSON.stringify(found) === JSON.stringify(ids),
      )
    await finds(`IntentStatus = 'failed'`, [failed.id])
    await finds(`IntentFailure = 'DEPOSIT_FAILED' AND ExecutionStatus = 'Failed'`, [failed.id])
    await finds(`IntentStatus = 'cancelled'`, [cancelled.id])
    await finds(`ExecutionStatus = 'Completed' AND IntentStatus IS NULL`, [completed.id])
  }, 120_000)
}
