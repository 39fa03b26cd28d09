import { describe, expect, test } from 'vitest'
import { ServiceError, errorCatalog, invalidFields, invalidRequest } from '../../domain/errors.js'
import { explainFailure, intentFailureCodes, toFailureCode } from '../../domain/intent/failures.js'
import { failureCodes } from '../../domain/intent/operation.js'
import { reasonCatalog, reasonsOf } from '../../domain/reasons.js'

describe('errorCatalog', () => {
  test('every code has a documented status, a meaning and a next action', () => {
    for (const { status, meaning, hint } of Object.values(errorCatalog)) {
      expect([400, 401, 402, 403, 404, 405, 429, 500, 503]).toContain(status)
      for (const text of [meaning, hint]) expect(text).toMatch(/^[A-Z].+\.$/)
    }
  })
})

describe('reasonCatalog', () => {
  test('every reason has a meaning and a next action', () => {
    for (const { meaning, hint } of Object.values(reasonCatalog)) {
      for (const text of [meaning, hint]) expect(text).toMatch(/^[A-Z].+\.$/)
    }
  })

  test("each reason belongs to one code, and has no code's name", () => {
    const codes = ['INVALID_REQUEST', 'INSUFFICIENT_FUNDS', 'UNAVAILABLE']
    const names = codes.flatMap(reasonsOf)
    expect(names.sort()).toEqual(Object.keys(reasonCatalog).sort())
    for (const name of names) expect(name).toMatch(/^[a-z_]+$/)
  })
})

describe('failureCatalog', () => {
  test('every code has a meaning, a next action and the place of the money', () => {
    for (const code of intentFailureCodes) {
      for (const text of Object.values(explainFailure(code))) expect(text).toMatch(/[a-z.]/)
    }
  })

  test('has the code of every failed step, of every simulated failure, and of a cancellation', () => {
    const steps = Object.values(failureCodes).filter((code) => code !== 'FUNDING_FAILED')
    const others = ['NETWORK_ERROR', 'RPC_ERROR', 'INSUFFICIENT_FUNDS', 'CANCELLED']
    for (const code of [...steps, ...others]) expect(toFailureCode(code)).toBe(code)
  })

  test('an unpublished code is a fault in the service', () => {
    for (const code of ['MISCONFIGURED', 'WAITING', ''])
      expect(toFailureCode(code)).toBe('INTERNAL')
  })
})

describe('invalidRequest', () => {
  test('has the same shape with a reason and without', () => {
    expect(invalidRequest('amount', 'Too much.').details).toEqual({
      issues: [{ path: 'amount', message: 'Too much.' }],
    })
    expect(invalidRequest('intentId', 'Not yet.', 'not_final')).toMatchObject({
      ...{ code: 'INVALID_REQUEST', message: 'Not yet.' },
      details: { reason: 'not_final', retryAfter: 30, issues: [{ path: 'intentId' }] },
    })
  })

  test('accepts published reasons only', () => {
    // @ts-expect-error It is in no catalog.
    const unpublished = () => invalidRequest('', 'x', 'unpublished')
    // @ts-expect-error It is a reason of another code.
    const misplaced = () => new ServiceError('INVALID_REQUEST', 'x', { reason: 'no_liquidity' })
    expect([unpublished, misplaced]).toHaveLength(2)
  })
})

describe('invalidFields', () => {
  test('puts the first five into the message, and all into details', () => {
    const issues = Array.from({ length: 7 }, (_, at) => ({ path: `f${at}`, message: `${at}.` }))
    const { message, details } = invalidFields(issues)
    expect(message).toBe('0. 1. 2. 3. 4. 2 more: see details.issues.')
    expect(details).toEqual({ issues })
  })
})

describe('ServiceError', () => {
  test('never shows its cause', () => {
    const cause = new Error('secret')
    const error = new ServiceError('RPC_ERROR', 'No answer.', { chain: 'a' }, { cause })
    expect(error).toMatchObject({ code: 'RPC_ERROR', details: { chain: 'a' }, cause })
    expect(JSON.stringify(error)).not.toContain('secret')
  })
})
