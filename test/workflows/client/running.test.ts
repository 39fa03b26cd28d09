import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { newId } from '../../../db/client/ids.js'
import { listRunning } from '../../../workflows/client/running.js'
import { joinTemporal } from '../../support/temporal/joinTemporal.js'

const PAGE = 10

let client: Client

beforeAll(async () => {
  ;({ client } = await joinTemporal())
})
afterAll(async () => {
  await client?.connection.close()
})

async function start(type: string): Promise<string> {
  const workflowId = newId('test_')
  await client.workflow.start(type, { workflowId, taskQueue: 'unserved' })
  return workflowId
}

async function list(): Promise<string[]> {
  const ids: string[] = []
  for await (const id of listRunning(client, PAGE)) ids.push(id)
  return ids
}

test('listRunning: running intents and fundings only, on several pages', async () => {
  const ended = await start('executeIntent')
  await start('snapshotYields')
  const types = ['fundWallet', ...Array.from({ length: PAGE }, () => 'executeIntent')]
  const running = await Promise.all(types.map(start))
  await client.workflow.getHandle(ended).terminate()
  // Listings are eventually consistent.
  while ((await list()).sort().join() !== running.sort().join()) await sleep(50)
  expect((await list()).sort()).toEqual(running.sort())
})
