import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApplicationFailure } from '@temporalio/common'
import { SETTLED, type WaitReason, type Unsettled } from '../../domain/intent/waitReason.js'
import {
  createGate,
  done,
  failureOf,
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

/** The current details, as the Temporal UI shows them. */
async function detailsOf(handle: IntentHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  )
  return currentDetails
}

/** The current search attributes of a workflow, without the server's own. */
async function attributesOf(handle: IntentHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe()
  const pairs = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const)
  return Object.fromEntries(pairs)
}

const hold: WaitReason = {
  ...{ code: 'SENDER_GAS', since: '2026-01-02T03:04:05.678Z' },
  message: 'Every sender is out of gas.',
}
const url = 'https://explorer.example/tx/0xburn'
const over = (type: string) => () =>
  Promise.reject(ApplicationFailure.create({ type, message: 'refused', nonRetryable: true }))

describe('the details of a workflow', () => {
  test('list each finished operation with its chain and its explorer page', async () => {
    const burned = createGate({ ...done, txHash: '0xburn', url })
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
    expect(before).toMatch(/1\. bridge 1 USDC from .*: running since \d{4}-\d\d-\d\d \d/)
    expect(before).toContain('2. deposit 1 USDC in aave-v3 on arbitrum-sepolia')
    expect(before).not.toContain('burned')
    expect(waits).toContain(`   - burned on base-sepolia: [\`0xburn\`](${url})`)
    expect(mints).not.toContain('minted on')
    expect(end).toContain('   - minted on arbitrum-sepolia: `0xmint`')
    expect(end).toContain('   - deposited on arbitrum-sepolia: `0xabc`')
    expect(end).toMatch(/^\*\*completed\*\*/)
  })

  /** Details and attributes of an intent during the wait of its step, and after it. */
  async function readWait(waitsFor: WaitReason) {
    const unsettled: Unsettled = { settled: false, waitsFor }
    const gate = createGate({ nonce: '0x07' })
    let calls = 0
    const awaitAttestation = () => (++calls === 1 ? Promise.resolve(unsettled) : gate.activity())
    const { result } = await runs.run(
      { awaitAttestation },
      async (handle) => {
        let during = await detailsOf(handle)
        for (; !during.includes('Waits'); during = await detailsOf(handle)) await sleep(20)
        const attributes = await attributesOf(handle)
        await handle.signal(SETTLED)
        await gate.begun
        gate.open()
        await handle.result()
        return {
          during,
          attributes,
          after: await detailsOf(handle),
          left: await attributesOf(handle),
        }
      },
      { plan: bridgedPlan },
    )
    return result
  }

  test('show the wait reason and its start, as long as the step waits', async () => {
    const { during, attributes, after, left } = await readWait(hold)
    expect(during).toContain(
      '**Waits** since 2026-01-02 03:04:05 UTC (`SENDER_GAS`): Every sender is out of gas.',
    )
    expect(attributes).toEqual({ WaitingFor: ['SENDER_GAS'] })
    expect(after).not.toContain('Waits')
    expect(left).not.toHaveProperty('WaitingFor')
  })

  test('show the reason of a usual wait, without a search attribute', async () => {
    const { during, attributes } = await readWait({ ...hold, code: 'ATTESTATION', isUsual: true })
    expect(during).toContain('(`ATTESTATION`)')
    expect(attributes).not.toHaveProperty('WaitingFor')
  })

  test('show that the intent is marked as failed while its money is in the bridge', async () => {
    const late = { ...hold, code: 'ATTESTATION' as const, failure: 'BRIDGE_TIMEOUT' }
    const { during, attributes } = await readWait(late)
    expect(during).toMatch(/^\*\*Waits\*\* since .* marked as failed with BRIDGE_TIMEOUT/)
    expect(attributes).toEqual({
      ...{ WaitingFor: ['ATTESTATION'], IntentStatus: 'failed' },
      IntentFailure: 'BRIDGE_TIMEOUT',
    })
  })

  test.each([
    ['DEPOSIT_FAILED', 'failed', 'FAILED', '**failed (DEPOSIT_FAILED): refused**'],
    ['CANCELLED', 'cancelled', 'COMPLETED', '**cancelled**'],
  ])(
    'distinguish an intent that ended with %s from a completed one',
    async (code, status, own, text) => {
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
    },
  )

  test('of an intent without waits add no events to those of its activities', async () => {
    const { result } = await runs.run({}, historyOf, { plan: lendPlan })
    const upserts = result.events?.filter(
      (event) => event.upsertWorkflowSearchAttributesEventAttributes,
    )
    expect(upserts).toEqual([])
    expect(result.events?.length).toBeLessThanOrEqual(12)
  })

  test('remain after an operator completes an activity by hand without a result', async () => {
    const nothing = () => Promise.resolve(null as never)
    const fakes = { bridge: nothing, awaitAttestation: nothing, mint: nothing, deposit: nothing }
    const { result } = await runs.run(fakes, (handle) => handle.result(), { plan: bridgedPlan })
    expect(result).toEqual({ status: 'completed' })
  })

  test('error: NOT_DONE when the planning returns no plan', async () => {
    const planIntent = () => Promise.resolve(null as never)
    const finalizeIntent = () => Promise.resolve({ status: 'pending' as const })
    const { result } = await runs.run({ planIntent, finalizeIntent }, failureOf, {})
    expect(result).toMatchObject({ type: 'NOT_DONE' })
  })
})
