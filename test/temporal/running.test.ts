import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { newId } from '../../db/connection/ids.js'
import { listRunning } from '../../temporal/running.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'

/** So many a server lists at once. */
const PAGE = 1_000

let server: TemporalServer
let client: Client

beforeAll(async () => {
  server = await startTemporalServer()
  client = new Client({ connection: Connection.lazy({ address: server.address }) })
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
})

async function start(type: string): Promise<string> {
  const workflowId = newId('test_')
  await client.workflow.start(type, { workflowId, taskQueue: 'nobody' })
  return workflowId
}

async function list(): Promise<string[]> {
  const ids: string[] = []
  for await (const id of listRunning(client)) ids.push(id)
  return ids
}

test('listRunning: the intents and fundings that run, of more than a page, and nothing else', async () => {
  const ended = await start('executeIntent')
  await start('snapshotYields')
  const types = ['fundWallet', ...Array.from({ length: PAGE }, () => 'executeIntent')]
  const running = await Promise.all(types.map(start))
  await client.workflow.getHandle(ended).terminate()
  // Lists are late.
  while ((await list()).sort().join() !== running.sort().join()) await sleep(50)
  expect((await list()).sort()).toEqual(running.sort())
})
