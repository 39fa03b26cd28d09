import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startWorld, type World } from '../api.js'

type Exchange = { request: IncomingMessage; response: ServerResponse }

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

test.each(['/v1/wallets', '/dashboard', '/nowhere'])(
  'a request of %s goes through Express with the prototypes that it came with',
  async (path) => {
    const seen: unknown[][] = []
    const note = (message: unknown) => {
      const { request, response } = message as Exchange
      seen.push([request, response].map((one) => Object.getPrototypeOf(one) as unknown))
    }
    // Node's own word of a request before Express has it, and after its answer.
    const channels = ['http.server.request.start', 'http.server.response.finish']
    for (const channel of channels) subscribe(channel, note)
    await world.api.call('GET', path)
    for (const channel of channels) unsubscribe(channel, note)
    const [before = [], after = []] = seen
    expect(after).toHaveLength(2)
    for (const [at, prototype] of after.entries()) expect(prototype).toBe(before[at])
  },
)
