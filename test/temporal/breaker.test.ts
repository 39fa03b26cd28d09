import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { createBreaker } from '../../temporal/breaker.js'
import { connectTemporal } from '../../temporal/connect.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'

let server: TemporalServer
let proxy: TcpProxy
let client: Client

beforeEach(async () => {
  server = await startTemporalServer()
  proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
  client = connectTemporal(`127.0.0.1:${proxy.port}`, 'default', [createBreaker()])
})
afterEach(async () => {
  await client.connection.close()
  await proxy.stop()
  await server.stop()
})

let count = 0
/** Starts a workflow and says how that ended: by Temporal, by the breaker, or not in time. */
async function start(): Promise<'started' | 'refused at once' | 'not reached'> {
  const options = { workflowId: `workflow_${++count}`, taskQueue: 'nobody' }
  try {
    await client.withDeadline(Date.now() + 1_500, () =>
      client.workflow.start('executeIntent', options),
    )
    return 'started'
  } catch (error) {
    return (error as { code?: string }).code === 'UNAVAILABLE' ? 'refused at once' : 'not reached'
  }
}

async function untilStarted(): Promise<void> {
  while ((await start()) !== 'started') await sleep(50)
}

describe('createBreaker', () => {
  test.each(['closed', 'frozen'] as const)(
    'Temporal is %s: one waits for it, the next ones do not, and starts go on when it is back',
    async (mode) => {
      await untilStarted()
      proxy.set(mode)
      expect(await start()).toBe('not reached')
      const next = await Promise.all(Array.from({ length: 20 }, start))
      expect(new Set(next)).toEqual(new Set(['refused at once']))
      proxy.set('closed')
      proxy.set('open')
      await untilStarted()
      expect(await start()).toBe('started')
    },
  )

  test('while it is away, one at a time asks whether it is back', async () => {
    await untilStarted()
    proxy.set('closed')
    expect(await start()).toBe('not reached')
    let asked: string[]
    do {
      asked = await Promise.all(Array.from({ length: 20 }, start))
    } while (!asked.includes('not reached'))
    expect(asked.filter((result) => result === 'not reached')).toHaveLength(1)
  })

  test('a start that Temporal itself refuses keeps nobody from starting', async () => {
    const tooLarge = { workflowId: 'large', taskQueue: 'nobody', args: ['x'.repeat(3_000_000)] }
    await untilStarted()
    await expect(client.workflow.start('executeIntent', tooLarge)).rejects.toThrow()
    expect(await start()).toBe('started')
  })
})
