import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../../../api/http/refusals/refusal.js'
import { invalidFields, invalidRequest, ServiceError } from '../../../../domain/errors.js'

const explain = (error: ServiceError, given: object = {}, idempotencyKey?: string) =>
  refusalOf(error, { given, idempotencyKey })

describe('refusalOf', () => {
  test('names the message, the fields, their values and the Idempotency-Key', () => {
    const issues = [
      { path: 'amount', message: 'amount must be above 0.' },
      { path: 'chain', message: 'chain must be text.' },
    ]
    const body = { amount: -1, chain: 'bsae', walletId: 'svc_wallet_1' }
    const error = invalidFields(issues)
    expect(explain(error, { body }, 'order-7')).toEqual({
      message: error.message,
      issues: [
        { ...issues[0], value: '-1' },
        { ...issues[1], value: '"bsae"' },
      ],
      idempotencyKey: 'order-7',
    })
  })

  test('finds the value in the query and in the path', () => {
    const given = { query: { status: 'done' }, params: { intentId: 'x' } }
    const valueOf = (path: string) => explain(invalidRequest(path, 'No.'), given).issues?.[0]?.value
    expect([valueOf('status'), valueOf('intentId')]).toEqual(['"done"', '"x"'])
  })

  const secret = 'correct horse battery'
  test.each([
    ['metadata.note', { metadata: { note: secret } }],
    ['password', { password: secret }],
    ['token', { token: secret }],
    ['userId', { userId: secret }],
    ['url', { url: `https://x:${secret}@example.com` }],
    ['amout', { amout: secret }],
    ['chain', { chain: { name: secret } }],
    ['chain', { chain: `${secret} `.repeat(5) }],
    ['__proto__.chain', { chain: secret }],
  ])('stores no value of %s', (path, body) => {
    const stored = JSON.stringify(explain(invalidRequest(path, 'No.'), { body }))
    expect(stored).not.toContain('horse')
  })

  test('is at most 8 kB, however long the input is', () => {
    const long = '漢 '.repeat(5_000)
    const issues = Array.from({ length: 500 }, () => ({ path: long, message: long }))
    const stored = JSON.stringify(explain(invalidFields(issues), { body: {} }, long))
    expect(Buffer.byteLength(stored)).toBeLessThan(8_192)
  })
})
