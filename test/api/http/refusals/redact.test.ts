import { describe, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { redact } from '../../../../api/http/refusals/redact.js'
import { newId } from '../../../../db/client/ids.js'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

describe('redact', () => {
  const secrets = [
    `svc_sk_${hex(32)}`,
    `svc_rt_${hex(8)}`,
    `whsec_${randomBytes(32).toString('base64')}`,
    hex(28),
    `0x${hex(32)}`,
    randomBytes(32).toString('base64'),
    randomBytes(32).toString('base64url'),
    `eyJhbGciOiJIUzI1NiJ9.${randomBytes(30).toString('base64url')}.${randomBytes(32).toString('base64url')}`,
  ]
  test.each(secrets)('replaces %s wherever it stands', (secret) => {
    for (const text of [secret, `chain ${secret} is unknown.`, `a.${secret}`, `x=${secret}&y=1`]) {
      const shown = redact(text, 500)
      expect(shown).toContain('[redacted]')
      for (const part of secret.split('.')) expect(shown).not.toContain(part.slice(-12))
    }
  })

  test('keeps the host of a URL only', () => {
    const url = 'https://user:hunter2@hooks.example.com:8443/services/T0/B0?token=abc#x'
    expect(redact(`url ${url}.`, 200)).toBe('url https://hooks.example.com:8443')
  })

  test('replaces an e-mail address', () => {
    expect(redact('order of alice@example.com:7, again', 200)).toBe('order of [redacted] again')
  })

  /** Processor time of the quickest of five calls. */
  function cpuOf(text: string): number {
    const times = Array.from({ length: 5 }, () => {
      const begin = process.cpuUsage()
      redact(text, 200)
      const { user, system } = process.cpuUsage(begin)
      return user + system
    })
    return Math.min(...times)
  }

  // With the square of the length it would be 256.
  test.each(['a.', 'a', 'a-', 'svc_sk_', 'x@', '://', '0x'])(
    'takes time in proportion to the length of a text of %j',
    (part) => {
      const short = cpuOf(part.repeat(8_000 / part.length))
      expect(cpuOf(part.repeat(128_000 / part.length)) / Math.max(short, 100)).toBeLessThan(80)
    },
  )

  const plain = [
    newId('intent_'),
    newId('svc_wallet_'),
    `0x${hex(20)}`,
    crypto.randomUUID(),
    'amount 1e-7 has more than 6 decimals. Round it.',
    'idempotency_key_reused',
    'INSUFFICIENT_FUNDS',
    '2026-11-21T04:36:02.845Z',
  ]
  test.each(plain)('keeps %s', (text) => expect(redact(text, 200)).toBe(text))

  test('is one line of the given length', () => {
    expect(redact('a\u0000b\r\nc\u202e', 200)).toBe('a b c ')
    expect(redact('no '.repeat(500), 40)).toHaveLength(40)
  })
})
