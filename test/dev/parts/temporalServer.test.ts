import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { createTemporalPart } from '../../../dev/parts/temporalServer.js'
import { findFreePorts } from '../../../dev/ports.js'
import { makeFolders, openHome } from '../../../dev/state/state.js'
import { connectTemporal } from '../../../temporal/connect.js'
import { searchAttributes, searchAttributeTypes } from '../../../temporal/searchAttributes.js'
import { TypedSearchAttributes } from '@temporalio/common'
// The SDK says little then.
import '../../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../../support/temporal/temporalServer.js'
import { workflowBundle } from '../../support/temporal/workflowBundle.js'

const WORKFLOWS = 5

let server: TemporalServer
let client: Client

beforeAll(async () => {
  server = await startTemporalServer()
  client = connectTemporal(server.address, 'default')
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
})

test('a fresh server knows the search attributes', async () => {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace: 'default',
  })
  expect(customAttributes).toEqual(searchAttributeTypes)
})

test('a step goes to the worker that has asked for it, by no queue, and no workflow reads what search attributes there are', async () => {
  const before = await readCounts()
  await fundWallets()
  let counts = await readCounts()
  const counted = (name: string) => (counts[name] ?? 0) - (before[name] ?? 0)
  // The server shows what it has counted once a second.
  while (counted('RespondActivityTaskCompleted') < WORKFLOWS) {
    await sleep(100)
    counts = await readCounts()
  }
  expect(counted('AddActivityTask')).toBe(0)
  expect(counted('GetCurrentClusterMetadata')).toBeLessThan(WORKFLOWS)
})

test('what an operator says of garbage goes before what the service says', async () => {
  delete process.env.GOMEMLIMIT
  process.env.GOGC = '50'
  expect(await readGarbage()).toEqual({ GOGC: '50', GOMEMLIMIT: '1GiB' })
  delete process.env.GOGC
  expect(await readGarbage()).toEqual({ GOGC: '400', GOMEMLIMIT: '1GiB' })
})

/** In place of the command line: it answers, where its UI would be, how it collects garbage. */
const fakeCli = `#!${process.execPath}
const { argv, env: { GOGC, GOMEMLIMIT } } = process
require('node:http')
  .createServer((_, response) => response.end(JSON.stringify({ GOGC, GOMEMLIMIT })))
  .listen(Number(argv[argv.indexOf('--ui-port') + 1]), '127.0.0.1')
`

/** What a dev server is told of garbage when it starts now. */
async function readGarbage(): Promise<unknown> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'steward-temporal-'))
  const file = path.join(folder, 'cli')
  fs.writeFileSync(file, fakeCli, { mode: 0o755 })
  const home = openHome({ STEWARD_HOME: folder })
  makeFolders(home)
  const [ui = 0] = await findFreePorts(1)
  const part = createTemporalPart({ file, source: 'a test' }, home, { temporal: 0, ui })
  const running = await part.start({ onSpawn: () => undefined, onExit: () => undefined })
  try {
    return await (await fetch(`http://127.0.0.1:${ui}`)).json()
  } finally {
    await running.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function fundWallets(): Promise<void> {
  const connection = await NativeConnection.connect({ address: server.address })
  const worker = await Worker.create({
    connection,
    taskQueue: 'steps',
    workflowBundle: workflowBundle(),
    activities: { fund: () => Promise.resolve({ txHash: '0x' }) },
  })
  try {
    await worker.runUntil(
      Promise.all(
        Array.from({ length: WORKFLOWS }, (_, i) =>
          client.workflow.execute('fundWallet', {
            workflowId: `fund ${i}`,
            taskQueue: 'steps',
            args: [{ fundingId: `fund_${i}` }],
            typedSearchAttributes: new TypedSearchAttributes([
              { key: searchAttributes.intentAction, value: 'fund' },
            ]),
          }),
        ),
      ),
    )
  } finally {
    await connection.close()
  }
}

/** How often the server's parts asked each other, and the database, by the name of what was asked. */
async function readCounts(): Promise<Record<string, number>> {
  const text = await (await fetch(server.metricsUrl)).text()
  const counts: Record<string, number> = {}
  for (const line of text.split('\n')) {
    const [, operation = '', count] =
      /^(?:service|persistence)_requests\{.*operation="(\w+)".*\} (\S+)$/.exec(line) ?? []
    counts[operation] = (counts[operation] ?? 0) + Number(count ?? 0)
  }
  return counts
}
