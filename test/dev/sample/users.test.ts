import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setStuck } from '../../../dev/sample/users.js'
import type { Facts } from '../../../dev/context.js'

const server = createServer((_, response) => response.writeHead(503).end())
let facts: Facts

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  facts = { attestationUrl: `http://127.0.0.1:${port}` } as Facts
})

afterAll(() => server.close())

describe('setStuck', () => {
  test('error: the attestation service rejects the fault', async () => {
    await expect(setStuck({ facts }, { stuck: true })).rejects.toThrow('answered 503')
  })
})
