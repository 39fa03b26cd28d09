import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { changeOf, figures } from '../../../clients/dashboard/src/pages/overview/figures.js'
import { sentenceOf } from '../../../clients/dashboard/src/pages/overview/attentionText.js'
import { layoutOf, linePath, nearest } from '../../../clients/dashboard/src/ui/charts/layout.js'
import { timeTicks, valueTicks } from '../../../clients/dashboard/src/ui/charts/scale.js'
import type { ChartData } from '../../../clients/dashboard/src/ui/charts/chartData.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const day = (text: string) => Date.parse(`${text}T00:00Z`)

describe('valueTicks', () => {
  test.each([
    [0, 100, 4, [0, 25, 50, 75, 100]],
    [0, 185, 3, [0, 100, 200]],
    [0, 0.0007, 2, [0, 0.0005, 0.001]],
    [2.3, 6.2, 6, [2, 3, 4, 5, 6, 7]],
    [0, 0, 4, [0, 0.25, 0.5, 0.75, 1].slice(0, 2)],
  ])('from %d to %d in at most %d steps: %j', (low, high, most, ticks) => {
    expect(valueTicks(low, high, most)).toEqual(ticks)
  })

  test('enclose the values with few round steps', () => {
    const value = fc.double({ min: 0, max: 1e9, noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(value, value, fc.integer({ min: 1, max: 8 }), (a, b, most) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b) + 1]
        const ticks = valueTicks(low, high, most)
        const step = (ticks[1] ?? 0) - (ticks[0] ?? 0)
        expect(ticks[0]).toBeLessThanOrEqual(low + step * 1e-6)
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(high - step * 1e-6)
        // One more step when the range does not begin at a round value.
        expect(ticks.length).toBeLessThanOrEqual(most + 2)
      }),
    )
  })
})

describe('timeTicks', () => {
  test('of several days are days, as many as fit', () => {
    const range = [day('2026-11-23'), day('2026-11-29')] as const
    const texts = (most: number) =>
      timeTicks(range, most, 'UTC').map(({ at }) => (at - range[0]) / DAY)
    expect(texts(7)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(texts(4)).toEqual([0, 2, 4, 6])
  })

  test('of a day are hours', () => {
    const from = day('2026-11-23') + HOUR / 2
    const ticks = timeTicks([from, from + 23 * HOUR], 8, 'UTC')
    expect(ticks.map(({ text }) => text)).toEqual([
      ...['03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00'],
    ])
  })

  test('never exceed the number that fits', () => {
    const length = fc.integer({ min: HOUR, max: 120 * DAY })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2e12 }),
        length,
        fc.integer({ min: 2, max: 20 }),
        (...all) => {
          const [from, span, most] = all
          const ticks = timeTicks([from, from + span], most, 'UTC')
          expect(ticks.length).toBeLessThanOrEqual(most)
          for (const { at } of ticks) expect(at >= from && at <= from + span).toBe(true)
        },
      ),
    )
  })
})

describe('layoutOf', () => {
  const data: ChartData = {
    ...{ form: 'bars', barMs: DAY, zone: 'UTC', valueText: String, timeText: String },
    times: [day('2026-11-23'), day('2026-11-24'), day('2026-11-25')],
    series: [
      { name: 'a', color: 'accent', values: [1, 2, 3] },
      { name: 'b', color: 'failed', values: [1, 2, 4] },
    ],
  }
  const size = { width: 300, height: 100, axes: 'full' } as const

  test('stacked bars fit below the highest tick, inside of the axes', () => {
    const { values, left, right, top, xOf, yOf, barWidth } = layoutOf(data, size)
    expect(values.at(-1)).toBeGreaterThanOrEqual(7)
    expect(yOf(7)).toBeGreaterThanOrEqual(top)
    expect(xOf(0) - barWidth / 2).toBeGreaterThanOrEqual(left)
    expect(xOf(2) + barWidth / 2).toBeLessThanOrEqual(right)
  })

  test('the nearest point of a place is the one below the pointer', () => {
    const layout = layoutOf(data, size)
    expect([0, 1, 2].map((index) => nearest(data, layout, layout.xOf(index) + 5))).toEqual([
      0, 1, 2,
    ])
  })

  test('a gap starts a new line, and a lonely point is a dot', () => {
    const layout = layoutOf(data, size)
    const path = linePath([1, null, 3], layout)
    expect(path.match(/M/g)).toHaveLength(2)
    expect(path.match(/h0/g)).toHaveLength(2)
    expect(path).not.toContain('L')
    expect(linePath([1, 2, 3], layout).match(/L/g)).toHaveLength(2)
  })

  test('is finite without values and with a single time', () => {
    for (const times of [[], [day('2026-11-23')]]) {
      const { xOf, yOf, barWidth } = layoutOf(
        { ...data, form: 'lines', barMs: 0, times, series: [] },
        size,
      )
      expect([xOf(0), yOf(0), barWidth].every(Number.isFinite)).toBe(true)
    }
  })
})

describe('changeOf', () => {
  const none = { volumeUsd: '0', completed: 0, failed: 0, p50Ms: null, gasUsd: '0' }
  const [volume, rate, p50] = figures as [
    (typeof figures)[number],
    (typeof figures)[number],
    (typeof figures)[number],
  ]

  test.each([
    [volume, { volumeUsd: '112' }, { volumeUsd: '100' }, '↑ 12 %', 'neutral'],
    [volume, { volumeUsd: '98.8' }, { volumeUsd: '100' }, '↓ 1.2 %', 'neutral'],
    [volume, { volumeUsd: '100' }, { volumeUsd: '100' }, '± 0 %', 'neutral'],
    [volume, { volumeUsd: '100' }, { volumeUsd: '1' }, '↑ >999 %', 'neutral'],
    [rate, { completed: 9, failed: 1 }, { completed: 8, failed: 2 }, '↑ 10 pt', 'good'],
    [rate, { completed: 8, failed: 2 }, { completed: 9, failed: 1 }, '↓ 10 pt', 'bad'],
    [p50, { p50Ms: 500 }, { p50Ms: 1_000 }, '↓ 50 %', 'good'],
    [p50, { p50Ms: 1_500 }, { p50Ms: 1_000 }, '↑ 50 %', 'bad'],
  ])('%# compares with the range before', (figure, now, before, text, look) => {
    const change = changeOf(figure, {
      current: { ...none, ...now },
      previous: { ...none, ...before },
    })
    expect(change).toMatchObject({ text, look })
  })

  test('is absent without a value in both ranges', () => {
    for (const figure of [volume, rate, p50]) {
      expect(changeOf(figure, { current: none, previous: none })).toBeUndefined()
      expect(changeOf(figure, { current: none, previous: null })).toBeUndefined()
    }
  })

  test('a success rate is 100 % only without failures', () => {
    expect(rate.valueOf({ ...none, completed: 9_999, failed: 1 })).toBe(99.9)
    expect(rate.valueOf({ ...none, completed: 9_999 })).toBe(100)
  })
})

describe('sentenceOf', () => {
  const now = new Date('2026-11-22T12:00:00Z')

  test.each([
    [{ kind: 'failed', count: 1 }, '1 failed intent can be retried'],
    [{ kind: 'failed', count: 101 }, 'More than 100 failed intents can be retried'],
    [{ kind: 'waiting', count: 2, codes: ['GAS_PRICE'] }, '2 intents take unusually long'],
    [
      { kind: 'key', id: 'key_1', name: 'backend', expiresAt: '2026-11-24T12:00:00Z' },
      'Key backend expires in 2 d',
    ],
    [
      { kind: 'paused', scope: 'chain', subject: 'base-sepolia', since: '2026-11-22T11:00:00Z' },
      'Base Sepolia is paused: its steps wait',
    ],
    [
      { kind: 'credits', balance: 0, monthly: 1_000, endsAt: '2026-12-01T00:00:00Z' },
      'No credits are left',
    ],
    [
      { kind: 'credits', balance: 1, monthly: 1_000, endsAt: '2026-12-01T00:00:00Z' },
      '1 credit is left',
    ],
  ] as const)('%j is "%s"', (item, text) => {
    expect(sentenceOf(item as unknown as Parameters<typeof sentenceOf>[0], now).text).toBe(text)
  })

  test('of a disabled endpoint has its reason', () => {
    const endpoint = {
      kind: 'webhook',
      id: 'wh_1',
      url: 'https://example.com/',
      failed: 0,
    } as const
    expect(sentenceOf({ ...endpoint, pending: 0, disabledReason: 'gone' }, now)).toMatchObject({
      text: 'Webhook example.com/ is disabled',
      detail: 'The endpoint responded with 410 Gone',
    })
  })
})
