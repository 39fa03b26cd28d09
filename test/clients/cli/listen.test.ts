import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { setExecuting } from '../../../db/intents/status.js'
import { setCompleted } from '../../db/rows.js'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { createCliUser, jsonLines, type CliUser } from './program.js'

type ReceivedWebhook = { body: string; headers: IncomingHttpHeaders }
type ForwardedEvent = {
  event: { id: string; type: string }
  receipt: { status?: number; error?: string }
}

let events: EventWorld
let me: Customer
let user: CliUser
let proxy: TcpProxy
let receiver: Server
let receiverUrl: string
let received: ReceivedWebhook[] = []
let answers: number[] = []

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
  proxy = await startTcpProxy({ host: '127.0.0.1', port: events.world.api.port })
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      received.push({ body, headers: request.headers })
      response.writeHead(answers.shift() ?? 204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
})
beforeEach(async () => {
  me = await events.newCustomer()
  const url = `http://127.0.0.1:${proxy.port}`
  user = createCliUser()
  await user.run(['login', '--key-stdin', '--base-url', url], { input: me.key })
})
afterEach(() => {
  proxy.set('open')
  user.leave()
  received = []
  answers = []
})
afterAll(async () => {
  receiver?.close()
  await proxy?.stop()
  await events?.stop()
})

const listen = (...more: string[]) =>
  user.start(['webhooks', 'listen', '--forward-to', receiverUrl, '--json', ...more])
const after = (count: number) => (stdout: string) => jsonLines(stdout).length > count
const sent = (text: string) => jsonLines(text).slice(1) as ForwardedEvent[]

describe('steward webhooks listen', () => {
  test('forwards events with a signature that the official library accepts', async () => {
    const id = await events.newIntent(me)
    const listening = listen('--after', 'evt_0')
    await listening.until(after(2))
    await setExecuting(events.worker, id)
    await listening.until(after(3))
    listening.kill('SIGINT')
    const { code, stdout } = await listening.ended
    const [begun] = jsonLines(stdout) as { secret: string }[]
    const webhook = new Webhook(begun?.secret ?? '')
    const bodies = received.map(({ body, headers }) => {
      return webhook.verify(body, headers as Record<string, string>)
    })
    const types = ['created', 'planned', 'executing'].map((type) => `intent.${type}`)
    expect([code, bodies]).toMatchObject([130, types.map((type) => ({ type }))])
    const [first] = received
    const { id: eventId } = JSON.parse(first?.body ?? '') as { id: string }
    expect(first?.headers['webhook-id']).toBe(eventId)
    expect(Object.keys(bodies[0] as object)).toEqual(['id', 'type', 'timestamp', 'data'])
    expect(() => webhook.verify('{}', first?.headers as Record<string, string>)).toThrow()
    expect(sent(stdout).map(({ receipt }) => receipt.status)).toEqual([204, 204, 204])
  })

  test('resumes after a lost connection and forwards the missed events once', async () => {
    const id = await events.newIntent(me)
    const listening = listen('--after', 'evt_0')
    await listening.until(after(2))
    proxy.set('closed')
    await listening.until((_stdout, notes) => notes.includes('Connection lost'))
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    proxy.set('open')
    await listening.until(after(4))
    expect(listening.stderr()).toContain('Reconnected')
    const types = received.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    const names = ['created', 'planned', 'executing', 'completed']
    expect(types).toEqual(names.map((name) => `intent.${name}`))
  })

  test('prints the status of the receiver and continues after a failure', async () => {
    answers = [500]
    await events.newIntent(me)
    const listening = listen('--after', 'evt_0')
    await listening.until(after(2))
    expect(sent(listening.stdout()).map(({ receipt }) => receipt.status)).toEqual([500, 204])
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`
    gone.close()
    const alone = user.start(['webhooks', 'listen', '--forward-to', url, '--after', 'evt_0'])
    await alone.until((stdout) => stdout.includes('connection refused'))
  })

  test('keeps one secret per login, or uses that of the environment', async () => {
    const args = ['webhooks', 'listen', '--forward-to', receiverUrl, '--print-secret']
    const secret = async (env = {}) => (await user.run(args, { env })).stdout.trim()
    const own = await secret()
    expect(own).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    expect(await secret()).toBe(own)
    const given = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    expect(await secret({ STEWARD_WEBHOOK_SECRET: given })).toBe(given)
    const bad = await user.run(args, { env: { STEWARD_WEBHOOK_SECRET: 'short' } })
    expect([bad.code, bad.stdout]).toEqual([1, ''])
  })
})
