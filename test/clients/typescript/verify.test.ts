import { describe, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { Steward, verifyWebhook, WebhookVerificationError } from '@steward/sdk'
import { Webhook } from 'standardwebhooks'
import { createFrameReader } from '../../../clients/typescript/src/http/frames.js'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const event = { id: 'evt_7', type: 'intent.completed', timestamp: 'x', data: { é: '✓' } }
const body = JSON.stringify(event)

/** Headers with a signature of the official library. */
function sign({ by = secret, at = new Date(), text = body } = {}) {
  return {
    'webhook-id': 'evt_7',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('evt_7', at, text),
  }
}
const inCapitals = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
const signed = sign()
const refused = (headers: Record<string, string>, text = body, by: string | string[] = secret) =>
  expect(verifyWebhook(text, headers, by)).rejects.toBeInstanceOf(WebhookVerificationError)

describe('webhooks.verify', () => {
  test.each([
    ['text', body, signed],
    ['bytes', Buffer.from(body), signed],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer, signed],
    ['a view into more bytes', Buffer.from(`..${body}`).subarray(2), signed],
    ['Headers of fetch', body, new Headers(signed)],
    ['headers as Node has them', body, { ...signed, 'webhook-id': ['evt_7'] }],
    ['headers in capitals', body, inCapitals(signed)],
  ])('takes what the official library has signed: %s', async (_how, payload, headers) => {
    expect(await Steward.webhooks.verify(payload, headers, secret)).toEqual(event)
  })

  test('accepts one of several secrets and one of several signatures', async () => {
    const other = newSecret()
    expect(await verifyWebhook(body, signed, [other, secret])).toEqual(event)
    const first = sign({ by: other })['webhook-signature']
    const both = `v1a,x ${first} ${signed['webhook-signature']}`
    expect(await verifyWebhook(body, { ...signed, 'webhook-signature': both }, secret)).toEqual(
      event,
    )
  })

  test('error: anything else', async () => {
    const minutes = (count: number) => new Date(Date.now() + count * 60_000)
    await refused(signed, body.replace('completed', 'failed'))
    await refused(signed, body, newSecret())
    await refused(signed, body, [])
    await refused({ ...signed, 'webhook-id': 'evt_8' })
    await refused({ ...signed, 'webhook-signature': '' })
    await refused({ ...signed, 'webhook-signature': 'v1,' })
    await refused({ ...signed, 'webhook-signature': 'v1,%%' })
    await refused({ ...signed, 'webhook-signature': signed['webhook-signature'].slice(3) })
    await refused({ ...signed, 'webhook-timestamp': 'NaN' })
    await refused({ 'webhook-id': 'evt_7' })
    await refused(sign({ at: minutes(-6) }))
    await refused(sign({ at: minutes(6) }))
    expect(await verifyWebhook(body, sign({ at: minutes(-4) }), secret)).toEqual(event)
  })

  test('error: a parsed body or a malformed secret', async () => {
    await expect(verifyWebhook(event as never, signed, secret)).rejects.toThrow('raw body')
    await expect(verifyWebhook(body, signed, 'whsec_')).rejects.toThrow('whsec_')
  })
})

describe('a stream in chunks', () => {
  const text = [
    'retry: 700\r\n\r\n',
    ':\n\n',
    'id: evt_1\n\n',
    'id: evt_2\nevent: a\ndata: {"one":1}\n\n',
    'id:evt_3\rdata:first\rdata: second\r\r',
    'unknown: x\r\ndata\r\n\r\n',
  ].join('')
  const frames = [
    { id: 'evt_1', data: undefined },
    { id: 'evt_2', data: '{"one":1}' },
    { id: 'evt_3', data: 'first\nsecond' },
    { id: undefined, data: '' },
  ]

  test.each([1, 2, 3, 7, 1_000])('of %i characters has the same events as the whole', (size) => {
    const retries: number[] = []
    const take = createFrameReader((ms) => retries.push(ms))
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    expect([...pieces, ':\n'].flatMap(take)).toEqual(frames)
    expect(retries).toEqual([700])
  })
})
