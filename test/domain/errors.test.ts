import { describe, expect, test } from '@jest/globals'
import { ServiceError, errorCatalog } from '../../domain/errors.js'

describe('errorCatalog', () => {
  test('every code has a documented status and says what to do', () => {
    for (const { status, hint } of Object.values(errorCatalog)) {
      expect([400, 401, 402, 403, 404, 429, 500, 503]).toContain(status)
      expect(hint).toMatch(/\.$/)
    }
  })
})

describe('ServiceError', () => {
  test('keeps its cause inside', () => {
    const cause = new Error('secret')
    const error = new ServiceError('RPC_ERROR', 'No answer.', { chain: 'a' }, { cause })
    expect(error).toMatchObject({ code: 'RPC_ERROR', details: { chain: 'a' }, cause })
    expect(JSON.stringify(error)).not.toContain('secret')
  })
})
