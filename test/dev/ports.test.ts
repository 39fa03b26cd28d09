import { afterEach, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { choosePorts, findFreePorts, findLowPorts, readPort } from '../../dev/ports.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function occupy(host: string, wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, host)
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('choosePorts', () => {
  test.each(['127.0.0.1', '0.0.0.0'])(
    'error: names a port taken on %s and its variable',
    async (host) => {
      const port = await occupy(host)
      const choices = { api: { name: 'API', variable: 'API_PORT', port } }
      await expect(choosePorts(choices)).rejects.toThrow(
        `Port ${port} (API) is taken. Set API_PORT to another port, or to 0 for a free one.`,
      )
    },
  )

  test('error: reports all taken ports at once', async () => {
    const [first, second] = [await occupy('127.0.0.1'), await occupy('127.0.0.1')]
    const choices = {
      api: { name: 'API', variable: 'API_PORT', port: first },
      temporal: { name: 'Temporal', variable: 'TEMPORAL_PORT', port: second },
    }
    await expect(choosePorts(choices)).rejects.toThrow(/API_PORT.*\n.*TEMPORAL_PORT/)
  })

  test('0 becomes a free port, a different one each time', async () => {
    const any = { name: 'any', variable: 'ANY', port: 0 }
    const { one, two } = await choosePorts({ one: any, two: any })
    expect(one).toBeGreaterThan(0)
    expect(two).toBeGreaterThan(0)
    expect(one).not.toBe(two)
  })
})

describe('findLowPorts', () => {
  test('returns distinct free ports that fit into a smallint', async () => {
    const found = await findLowPorts(20)
    expect(new Set(found).size).toBe(20)
    expect(found.filter((port) => port > 32_767)).toEqual([])
    for (const port of found) expect(await occupy('127.0.0.1', port)).toBe(port)
  })
})

describe('findFreePorts', () => {
  test('the system assigns none of the ports at random, but a program can bind each by number', async () => {
    const found = await findFreePorts(20)
    const given = new Set<number>()
    for (let i = 0; i < 10_000; i++) {
      given.add(await occupy('127.0.0.1'))
      servers.pop()?.close()
    }
    expect(found.filter((port) => given.has(port))).toEqual([])
    for (const port of found) expect(await occupy('127.0.0.1', port)).toBe(port)
  })
})

describe('readPort', () => {
  test('prefers the variable to the default', () => {
    expect(readPort({ API_PORT: '4000' }, 'API', 'API_PORT', 3000).port).toBe(4000)
    expect(readPort({}, 'API', 'API_PORT', 3000).port).toBe(3000)
  })

  test.each(['eighty', '-1', '70000', '1.5'])('error: %s is no port', (text) => {
    expect(() => readPort({ API_PORT: text }, 'API', 'API_PORT', 3000)).toThrow('is not a port')
  })
})
