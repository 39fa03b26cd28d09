import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import { HELD_UP, type Hold } from '../../domain/hold.js'
import {
  attestation,
  createGate,
  done,
  historyOf,
  startIntentRuns,
  type IntentHandle,
  type IntentRuns,
} from './intentRuns.js'
import { bridgedPlan, lendPlan } from './plans.js'

let runs: IntentRuns

beforeAll(async () => {
  runs = await startIntentRuns()
})
afterAll(() => runs?.stop())

/** What the Temporal UI shows as the current details. */
async function detailsOf(handle: IntentHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  )
  return currentDetails
}

/** Those of a workflow that are set now, apart from the server's own. */
async function attributesOf(handle: IntentHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe()
  const pairs = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const)
  return Object.fromEntries(pairs.filter(([name]) => name !== 'TemporalChangeVersion'))
}

const hold: Hold = {
  ...{ code: 'LANE_GAS', since: '2026-01-02T03:04:05.678Z' },
  message: 'Every lane is out of gas.',
}
const url = 'https://explorer.example/tx/0xburn'
const over = (type: string) => () =>
  Promise.reject(ApplicationFailure.create({ type, message: 'refused', nonRetryable: true }))

describe('the details of a workflow', () => {
  test('name each operation when it is over, with its chain and its page', async () => {
    const burned = createGate({ ...done, txHash: '0xburn', url, attestation })
    const attested = createGate({ nonce: '0x07' })
    const minted = createGate({ ...done, txHash: '0xmint' })
    const fakes = {
      ...{ bridge: burned.activity, awaitAttestation: attested.activity },
      mint: minted.activity,
    }
    const { result } = await runs.run(
      fakes,
      async (handle) => {
        const seen: string[] = []
        for (const { begun, open } of [burned, attested, minted]) {
          await begun
          seen.push(await detailsOf(handle))
          open()
        }
        await handle.result()
        return [...seen, await detailsOf(handle)]
      },
      { plan: bridgedPlan },
    )
    const [before = '', waits = '', mints = '', end = ''] = result
    expect(before).toMatch(/1\. bridge 1 USDC from .*: under way since \d{4}-\d\d-\d\d \d/)
    expect(before).toContain('2. deposit 1 USDC in aave-v3 on arbitrum-sepolia')
    expect(before).not.toContain('burned')
    expect(waits).toContain(`   - burned on base-sepolia: [\`0xburn\`](${url})`)
    expect(waits).toContain(
      'Waits since 2026-01-01 00:00:00 UTC to be attested (`ATTESTATION`): usually 8 to 20 seconds, late after 2026-01-01 00:00:40 UTC.',
    )
    expect(mints).not.toContain('ATTESTATION')
    expect(end).toContain('   - minted on arbitrum-sepolia: `0xmint`')
    expect(end).toContain('   - deposited on arbitrum-sepolia: `0xabc`')
    expect(end).toMatch(/^\*\*completed\*\*/)
  })

  test('say what holds a step up and since when, as long as it does', async () => {
    const gate = createGate(done)
    const { result } = await runs.run(
      { deposit: gate.activity },
      async (handle) => {
        await gate.begun
        await handle.signal(HELD_UP, hold)
        const held = [await detailsOf(handle), await attributesOf(handle)]
        gate.open()
        await handle.result()
        return [...held, await detailsOf(handle), await attributesOf(handle)]
      },
      { plan: lendPlan },
    )
    const [during, attributes, after, left] = result
    expect(during).toContain(
      '**Held up** since 2026-01-02 03:04:05 UTC (`LANE_GAS`): Every lane is out of gas.',
    )
    expect(attributes).toEqual({ WaitingFor: ['LANE_GAS'] })
    expect(after).not.toContain('Held up')
    expect(left).not.toHaveProperty('WaitingFor')
  })

  test('say that it was marked as failed while its money is in the bridge', async () => {
    const gate = createGate({ nonce: '0x07' })
    const { result } = await runs.run(
      { awaitAttestation: gate.activity },
      async (handle) => {
        await gate.begun
        const late = { ...hold, code: 'ATTESTATION' as const, failure: 'BRIDGE_TIMEOUT' }
        await handle.signal(HELD_UP, late)
        const seen = [await detailsOf(handle), await attributesOf(handle)]
        gate.open()
        await handle.result()
        return seen
      },
      { plan: bridgedPlan },
    )
    expect(result[0]).toMatch(/^\*\*Late\*\* since .* marked as failed with BRIDGE_TIMEOUT/)
    expect(result[0]).toContain('usually 8 to 20 seconds')
    expect(result[1]).toEqual({
      ...{ WaitingFor: ['ATTESTATION'], IntentStatus: 'failed' },
      IntentFailure: 'BRIDGE_TIMEOUT',
    })
  })

  test.each([
    ['DEPOSIT_FAILED', 'failed', 'FAILED', '**failed (DEPOSIT_FAILED): refused**'],
    ['CANCELLED', 'cancelled', 'COMPLETED', '**cancelled**'],
  ])('tell an intent that ended with %s from a completed one', async (code, status, own, text) => {
    const { result } = await runs.run(
      { deposit: over(code) },
      async (handle) => {
        await handle.result().catch(() => undefined)
        const { status: closed } = await handle.describe()
        return [await attributesOf(handle), closed.name, await detailsOf(handle)]
      },
      { plan: lendPlan },
    )
    expect(result[0]).toEqual({ IntentStatus: status, IntentFailure: code })
    expect(result[1]).toBe(own)
    expect(result[2]).toContain(text)
  })

  test('of a usual intent cost no event: none beside its activities', async () => {
    const { result } = await runs.run({}, historyOf, { plan: lendPlan })
    const upserts = result.events?.filter(
      (event) => event.upsertWorkflowSearchAttributesEventAttributes,
    )
    expect(upserts).toEqual([])
    expect(result.events?.length).toBeLessThanOrEqual(12)
  })

  test('outlive what somebody completes by hand with nothing at all', async () => {
    const nothing = () => Promise.resolve(null as never)
    const fakes = { bridge: nothing, awaitAttestation: nothing, mint: nothing, deposit: nothing }
    const { result } = await runs.run(fakes, (handle) => handle.result(), { plan: bridgedPlan })
    expect(result).toEqual({ status: 'completed' })
  })

  test('and a plan that is none is made again', async () => {
    let planned = 0
    let told = 0
    const planIntent = () => Promise.resolve(++planned === 1 ? (null as never) : lendPlan)
    const finalizeIntent = () =>
      Promise.resolve({ status: ++told === 1 ? ('pending' as const) : ('completed' as const) })
    const { result } = await runs.run(
      { planIntent, finalizeIntent },
      (handle) => handle.result(),
      {},
    )
    expect(result).toEqual({ status: 'completed' })
    expect(planned).toBe(2)
  })
})
