import { describe, expect, test } from 'vitest'
import { fundingProgress } from '../../domain/intent/funding.js'
import type { StepOperation } from '../../domain/intent/stepOperation.js'
import { lastChange, stepTimelines } from '../../domain/intent/timeline.js'
import { waitingCodeOf, waitingCodes, waitingMessage } from '../../domain/intent/waiting.js'
import { bridge, deposit, effect, planOf } from './plan/steps.js'
import type { IntentFailure, LifecycleStatus, PlanStep } from '../../domain/intent/intent.js'
import type { Effect } from '../../domain/intent/results.js'

const at = (second: number) => `2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z`
const plan = planOf(bridge(1, 'arbitrum', 'base'), deposit(2, 'base'))
const single = planOf(deposit(1, 'base'))

const row = (changes: Partial<StepOperation> = {}): StepOperation => ({
  ...{ sequence: 1, kind: 'deposit', chain: 'base', state: 'queued', success: null },
  ...{ code: null, message: null, waitsFor: null, isIncluded: false, pause: null, txHash: null },
  ...{ startedAt: at(1), waitsSince: null, signedAt: null, minedAt: null, endedAt: null },
  ...{ changedAt: null, burnedAt: null, attestedAt: null, delayReason: null },
  ...changes,
})
const done = { state: 'confirmed', success: true } as const

type KnownProgress = {
  status?: LifecycleStatus
  error?: IntentFailure
  operations?: StepOperation[]
  effects?: Effect[]
}
const timelineOf = (known: KnownProgress, of = single) => {
  const { status = 'executing', error = null, operations = [], effects = [] } = known
  const facts = { status, error, since: at(0), operations, effects }
  return stepTimelines(of, facts, (_step, code) => (code === 'ATTESTATION' ? 15 : undefined))
}

describe('stepTimelines: a step of one operation', () => {
  const statusOf = (known: KnownProgress) => timelineOf(known)[0]?.status

  test('pending until the intent executes, then waiting for the service', () => {
    expect(timelineOf({ status: 'planning' })).toEqual([{ sequence: 1, status: 'pending' }])
    expect(timelineOf({})).toEqual([
      {
        ...{ sequence: 1, status: 'waiting' },
        waitingFor: { code: 'SERVICE', message: expect.any(String), since: at(0) },
      },
    ])
  })

  test.each([
    ['queued', {}, 'waiting'],
    ['deferred', { code: 'RPC_ERROR' }, 'waiting'],
    ['signed', { isIncluded: true }, 'executing'],
    ['signed', { isIncluded: false }, 'waiting'],
    ['mined', { success: true }, 'executing'],
    ['confirmed', { success: false }, 'failed'],
    ['rejected', { code: 'DEPOSIT_FAILED' }, 'failed'],
    ['cancelled', { code: 'NETWORK_ERROR' }, 'failed'],
    ['cancelled', { code: 'CANCELLED' }, 'cancelled'],
  ] as const)('%s %j: %s', (state, changes, status) => {
    expect(statusOf({ operations: [row({ state, ...changes })] })).toBe(status)
  })

  test('completed: with its times and its transaction, without a wait reason', () => {
    const operations = [row({ ...done, txHash: '0xd', endedAt: at(9) })]
    expect(timelineOf({ operations, effects: [effect(1, 'deposit', 1n)] })).toEqual([
      { sequence: 1, status: 'completed', startedAt: at(1), endedAt: at(9), txHash: '0xd' },
    ])
  })

  test('omits a hash that a reorg removed', () => {
    const [step] = timelineOf({
      operations: [row({ state: 'signed', isIncluded: true, txHash: '0xd' })],
    })
    expect(step).not.toHaveProperty('txHash')
  })

  test('of a failed intent: the failed step, and steps that never started', () => {
    const error = { code: 'NETWORK_ERROR', message: '', step: 1 } as const
    const steps = timelineOf({ status: 'failed', error }, plan)
    expect(steps).toMatchObject([{ status: 'failed' }, { status: 'cancelled' }])
    for (const step of steps) expect(step).not.toHaveProperty('waitingFor')
  })
})

describe('stepTimelines: since when it waits', () => {
  const waitOf = (changes: Partial<StepOperation>) =>
    timelineOf({ operations: [row(changes)] })[0]?.waitingFor

  test.each([
    ['queued', {}, 'SIGNER', at(1)],
    [
      'the last reason of the signer, since its first occurrence',
      { waitsFor: 'SENDER_GAS', waitsSince: at(4) },
      'SENDER_GAS',
      at(4),
    ],
    [
      'queued again with a reason',
      { state: 'queued', waitsFor: 'GAS_PRICE', waitsSince: at(4) },
      'GAS_PRICE',
      at(4),
    ],
    ['paused before it was ordered', { pause: { scope: 'chain', since: at(0) } }, 'PAUSED', at(1)],
    ['frozen after it was ordered', { pause: { scope: 'wallet', since: at(7) } }, 'FROZEN', at(7)],
    ['sent', { state: 'signed', isIncluded: true, signedAt: at(2) }, 'MINING', at(2)],
    [
      'sent, and too cheap now',
      { state: 'signed', isIncluded: true, waitsFor: 'GAS_PRICE', waitsSince: at(5) },
      'GAS_PRICE',
      at(5),
    ],
    [
      'frozen once stored or sent',
      { state: 'signed', isIncluded: true, pause: { scope: 'wallet', since: at(7) } },
      'FROZEN',
      at(7),
    ],
    ['reverted', { state: 'signed', signedAt: at(2) }, 'RESENDING', at(2)],
    ['mined', { state: 'mined', minedAt: at(3) }, 'CONFIRMATIONS', at(3)],
  ] as const)('%s', (_what, changes, code, since) => {
    expect(waitOf(changes)).toMatchObject({ code, since })
  })

  test('omits the operator and the scope of a freeze', () => {
    const [account, wallet] = (['account', 'wallet'] as const).map((scope) =>
      waitOf({ pause: { scope, since: at(7) } }),
    )
    expect(account).toEqual(wallet)
  })

  test('the message of a market or chain is more specific than that of the code', () => {
    const rejected = {
      state: 'deferred',
      message: 'aave-v3 on base takes in no more than 5 now.',
    } as const
    expect(waitOf({ ...rejected, waitsFor: 'MARKET_ROOM' })?.message).toBe(rejected.message)
    expect(waitOf({ ...rejected, waitsFor: 'SENDER_GAS' })?.message).not.toBe(rejected.message)
  })
})

describe('stepTimelines: a bridge', () => {
  const burn = (changes: Partial<StepOperation> = {}) =>
    row({ kind: 'bridge', chain: 'arbitrum', ...changes })
  const burned = burn({ ...done, txHash: '0xb', endedAt: at(3), burnedAt: at(2) })
  const mint = (changes: Partial<StepOperation> = {}) =>
    row({ kind: 'mint', startedAt: at(6), ...changes })

  test('has its parts before they start', () => {
    expect(timelineOf({ status: 'planning' }, plan)[0]?.operations).toEqual([
      { type: 'burn', status: 'pending', chain: 'arbitrum' },
      { type: 'attestation', status: 'pending', chain: 'arbitrum' },
      { type: 'mint', status: 'pending', chain: 'base' },
    ])
  })

  test('burned: waits for the attestation since the burn, with the usual duration', () => {
    const [first, second] = timelineOf(
      { operations: [burned], effects: [effect(1, 'bridge', 1n)] },
      plan,
    )
    expect(first).toMatchObject({ status: 'waiting', startedAt: at(1), txHash: '0xb' })
    expect(first).not.toHaveProperty('endedAt')
    expect(first?.waitingFor).toEqual({
      ...{ code: 'ATTESTATION', since: at(2), usualSeconds: 15 },
      message: 'Burned on arbitrum. Waits for the attestation.',
    })
    expect(first?.operations).toMatchObject([
      { type: 'burn', status: 'completed', endedAt: at(3), txHash: '0xb' },
      { type: 'attestation', status: 'waiting', startedAt: at(2) },
      { type: 'mint', status: 'pending' },
    ])
    expect(second).toEqual({ sequence: 2, status: 'pending' })
  })

  test('of a failed intent: its money is still awaited', () => {
    const error = { code: 'BRIDGE_TIMEOUT', message: '', step: 1 } as const
    const steps = timelineOf({ status: 'failed', error, operations: [burned] }, plan)
    expect(steps).toMatchObject([
      { status: 'waiting', waitingFor: { code: 'ATTESTATION' } },
      { status: 'cancelled' },
    ])
  })

  test('attested as a standard transfer: reports the reason, and the usual time at that speed', () => {
    const operations = [{ ...burned, delayReason: 'insufficient_fee' }]
    const facts = {
      status: 'executing' as const,
      error: null,
      since: at(0),
      operations,
      effects: [],
    }
    const usual = (step: PlanStep) =>
      step.type === 'bridge' && step.speed === 'standard' ? 900 : 8
    const [first] = stepTimelines(plan, facts, usual)
    expect(first?.waitingFor).toMatchObject({
      ...{ code: 'ATTESTATION', usualSeconds: 900 },
      message: expect.stringContaining('the fee was too low'),
    })
  })

  test('attested, with no ordered mint: waits for the service', () => {
    const operations = [{ ...burned, attestedAt: at(5) }]
    const [first] = timelineOf({ operations }, plan)
    expect(first?.waitingFor).toMatchObject({ code: 'SERVICE', since: at(5) })
    expect(first?.operations?.[1]).toMatchObject({ status: 'completed', endedAt: at(5) })
  })

  test('minting: the step waits for what the mint waits for', () => {
    const operations = [
      { ...burned, attestedAt: at(5) },
      mint({ state: 'deferred', waitsFor: 'SENDER_GAS', waitsSince: at(8) }),
    ]
    expect(timelineOf({ operations }, plan)[0]).toMatchObject({
      status: 'waiting',
      waitingFor: { code: 'SENDER_GAS', message: expect.stringContaining('base'), since: at(8) },
      operations: [{}, {}, { type: 'mint', status: 'waiting', startedAt: at(6) }],
    })
  })

  test('completed with its mint, from burn to mint; the deposit waits from then on', () => {
    const operations = [
      { ...burned, attestedAt: at(5) },
      mint({ ...done, txHash: '0xm', endedAt: at(9) }),
    ]
    const effects = [effect(1, 'bridge', 1n), effect(1, 'mint', 1n)]
    const [first, second] = timelineOf({ operations, effects }, plan)
    expect(first).toMatchObject({
      ...{ status: 'completed', startedAt: at(1), endedAt: at(9), txHash: '0xm' },
      operations: [{ status: 'completed' }, { status: 'completed' }, { endedAt: at(9) }],
    })
    expect(second).toMatchObject({
      status: 'waiting',
      waitingFor: { code: 'SERVICE', since: at(9) },
    })
  })

  test('a burn that failed: no later part started', () => {
    const operations = [burn({ state: 'confirmed', success: false, endedAt: at(3) })]
    expect(timelineOf({ operations }, plan)[0]).toMatchObject({
      ...{ status: 'failed', endedAt: at(3) },
      operations: [{ status: 'failed' }, { status: 'cancelled' }, { status: 'cancelled' }],
    })
  })
})

describe('waitingCodeOf', () => {
  const known = { kind: 'deposit', isIncluded: false, waitsFor: null } as const

  test.each([
    ['RPC_ERROR', 'CHAIN_SILENT'],
    ['DAILY_LIMIT', 'DAILY_LIMIT'],
    ['MINTED', 'INDEXING'],
    ['INTERNAL', 'SERVICE'],
    ['DEPOSIT_FAILED', 'REFUSED'],
  ])('by its code without other facts: %s is %s', (code, waits) => {
    expect(waitingCodeOf({ ...known, state: 'deferred', code })).toBe(waits)
  })

  test.each(['confirmed', 'final', 'rejected', 'cancelled'] as const)('%s: undefined', (state) => {
    expect(waitingCodeOf({ ...known, state, code: 'RPC_ERROR' })).toBeUndefined()
  })

  test('every code has a message', () => {
    for (const code of waitingCodes) expect(waitingMessage(code, 'base')).toMatch(/^[A-Z].+\.$/)
  })
})

describe('fundingProgress', () => {
  test('pending before it is ordered', () => {
    expect(fundingProgress(undefined)).toEqual({ status: 'pending' })
  })
})

describe('lastChange', () => {
  test('the latest of the intent and its operations, in any time zone', () => {
    const changed = row({ changedAt: '2026-11-20T12:00:30+01:00', waitsSince: at(20) })
    expect(lastChange(at(10), [row(), changed])).toBe('2026-11-20T12:00:30+01:00')
    expect(lastChange(at(10), [row()])).toBe(at(10))
  })
})
