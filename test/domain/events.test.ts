import { describe, expect, test } from 'vitest'
import { eventTypes, isSettled, settles, settlingTypes } from '../../domain/events/events.js'
import type { Happening } from '../../domain/events/events.js'

const error = (code: string, more: object = {}) => ({ code, message: 'test', ...more })
const happening = (type: string, data: object = {}) => ({ type, data }) as Happening

describe('settles', () => {
  test.each([
    ['completed', {}, true],
    ['cancelled', { error: error('CANCELLED') }, true],
    ['failed', { error: error('DEPOSIT_FAILED') }, true],
    ['failed', { error: error('BRIDGE_TIMEOUT') }, false],
    ['recovered', { error: error('BRIDGE_TIMEOUT', { recovery: {} }) }, true],
    ['reopened', {}, false],
    ['step_completed', {}, undefined],
    ['delayed', {}, undefined],
  ])('%s %j: %s', (type, data, expected) => {
    expect(settles(happening(type, data))).toBe(expected)
  })

  test('decides on settlingTypes only', () => {
    const failed = { error: error('DEPOSIT_FAILED') }
    const deciding = eventTypes.filter((type) => settles(happening(type, failed)) !== undefined)
    expect([...settlingTypes].sort()).toEqual([...deciding].sort())
  })
})

describe('isSettled', () => {
  test('agrees with settles', () => {
    const timeout = error('BRIDGE_TIMEOUT') as Parameters<typeof isSettled>[1]
    const recovered = error('BRIDGE_TIMEOUT', { recovery: {} }) as typeof timeout
    expect(isSettled('executing', null)).toBe(false)
    expect(isSettled('completed', null)).toBe(true)
    expect([isSettled('failed', timeout), isSettled('failed', recovered)]).toEqual([false, true])
  })
})
