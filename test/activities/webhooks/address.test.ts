import { describe, expect, test } from 'vitest'
import { createGuard, isPublic, type Address } from '../../../activities/webhooks/address.js'
import { SendFailure } from '../../../activities/webhooks/failure.js'
import { send } from '../../../activities/webhooks/send.js'
import { startReceiver } from './receiver.js'

const resolveTo =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
const guard = createGuard({ isDevnet: false })
const reasonOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'allowed',
    (error: unknown) => (error instanceof SendFailure ? error.reason : error),
  )

describe('isPublic', () => {
  test.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
    ...['172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
    ...['198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::7f00:1'],
    ...['64:ff9b::a00:1', '64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::1'],
    ...['fc00::1', 'fd12::1', 'fe80::1', 'ff02::1', '3fff::1', '5f00::1', 'localhost', ''],
  ])('rejects %s', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '192.0.1.1', '2606:4700:4700::1111', '2a00:1::1'])(
    'allows %s',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )
})

describe('guard', () => {
  test.each([
    ...['ftp://example.com/', 'file:///etc/passwd', 'example.com', '', 'javascript:alert(1)'],
    ...['https://user@example.com/', 'https://user:word@example.com/', 'https://example.com/#x'],
    ...['https://example.com:8443/', 'http://example.com:443/', 'https://example.com:80/'],
    ...['http://example.com/', 'http://example.com:80/hook'],
    `https://example.com/${'a'.repeat(2_100)}`,
  ])('rejects the URL %s', (text) => {
    expect(guard.refusal(text)).toEqual(expect.any(String))
  })

  test.each(['https://example.com/x', 'https://example.com:443/?a=b'])(
    'allows the text %s',
    (text) => {
      expect(guard.refusal(text)).toBeUndefined()
    },
  )

  test.each([
    ...['https://127.0.0.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/'],
    ...['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://169.254.169.254/latest'],
    ...['https://[64:ff9b::a9fe:a9fe]/', 'https://[fe80::1]/', 'https://localhost/'],
  ])('error: no allowed address for %s', async (text) => {
    expect(await reasonOf(guard.pin(new URL(text)))).toBe('address_refused')
  })

  test('pins a public address of a name, and rejects a name without one', async () => {
    const url = new URL('https://example.com/')
    const mixed = createGuard({ isDevnet: false, resolve: resolveTo('10.0.0.1', '1.1.1.1') })
    expect(await mixed.pin(url)).toEqual({ address: '1.1.1.1', family: 4 })
    const inside = createGuard({ isDevnet: false, resolve: resolveTo('10.0.0.1', '::1') })
    expect(await reasonOf(inside.pin(url))).toBe('address_refused')
    const nowhere = createGuard({ isDevnet: false, resolve: resolveTo() })
    expect(await reasonOf(nowhere.pin(url))).toBe('not_resolved')
  })

  test('allows loopback on any port on a devnet, and no other private address', async () => {
    const devnet = createGuard({ isDevnet: true, resolve: resolveTo('1.1.1.1') })
    expect(await devnet.pin(new URL('http://127.0.0.1:8080/'))).toMatchObject({ family: 4 })
    expect(await reasonOf(devnet.pin(new URL('http://10.0.0.1/')))).toBe('address_refused')
    expect(await reasonOf(devnet.pin(new URL('http://example.com:8080/')))).toBe('address_refused')
  })
})

describe('send', () => {
  const outgoing = (url: string) => ({ url, headers: {}, body: '{}' })

  test('resolves a name only once', async () => {
    const receiver = await startReceiver()
    const answers: Address[][] = [
      [{ address: '127.0.0.1', family: 4 }],
      [{ address: '127.0.0.2', family: 4 }],
    ]
    let asked = 0
    const resolve = () => Promise.resolve(answers[Math.min(asked++, 1)] ?? [])
    const rebinding = createGuard({ isDevnet: true, resolve })
    // The machine cannot resolve this name, so a second resolution would fail.
    const url = `http://rebinding.invalid:${receiver.port}/`
    expect(await send(rebinding, outgoing(url))).toMatchObject({ status: 204 })
    expect(asked).toBe(1)
    expect(receiver.received[0]?.headers.host).toBe(`rebinding.invalid:${receiver.port}`)
    await receiver.stop()
  })

  test('rejects a name with a private address before it connects', async () => {
    const receiver = await startReceiver()
    const resolve = resolveTo('127.0.0.1')
    const url = `http://rebinding.invalid:${receiver.port}/`
    const outside = createGuard({ isDevnet: false, resolve })
    expect(await reasonOf(send(outside, outgoing(url)))).toBe('address_refused')
    const usual = outgoing('http://rebinding.invalid/')
    expect(await reasonOf(send(outside, usual))).toBe('address_refused')
    expect(receiver.connections()).toBe(0)
    await receiver.stop()
  })

  test('opens a new connection per attempt', async () => {
    const receiver = await startReceiver()
    const devnet = createGuard({ isDevnet: true })
    for (let n = 0; n < 3; n++) await send(devnet, outgoing(receiver.url))
    expect(receiver.connections()).toBe(3)
    await receiver.stop()
  })

  test('keeps the first kilobyte of any response', async () => {
    const text = `\0é${'x'.repeat(200_000)}`
    const receiver = await startReceiver(() => ({ status: 200, text }))
    const { status, body } = await send(createGuard({ isDevnet: true }), outgoing(receiver.url))
    expect({ status, start: body.slice(0, 3), length: body.length }).toEqual({
      ...{ status: 200, start: 'éxx', length: 1_022 },
    })
    await receiver.stop()
  })

  test('error: distinguishes unreachable endpoints from timeouts', async () => {
    const receiver = await startReceiver(() => ({ status: 200, afterMs: 60_000 }))
    const devnet = createGuard({ isDevnet: true })
    expect(await reasonOf(send(devnet, outgoing(receiver.url), 100))).toBe('timed_out')
    const { url } = receiver
    await receiver.stop()
    expect(await reasonOf(send(devnet, outgoing(url)))).toBe('connection_failed')
  })
})
