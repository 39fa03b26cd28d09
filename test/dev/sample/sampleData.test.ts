import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { advanceClock } from '../../../dev/clock/advance.js'
import { addSampleData, passDays } from '../../../dev/sample/sampleData.js'
import { chainNames, type ChainName } from '../../../evm/registry.js'
import { openHome } from '../../../dev/state/state.js'
import { createDatabase } from '../../support/database.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { takeDeployed } from '../../support/nodes.js'
import type { Context, Facts } from '../../../dev/context.js'
import type { Devnet } from '../../../dev/state/openDevnet.js'

const START_MS = 120_000

const countServers = () =>
  process.getActiveResourcesInfo().filter((type) => type === 'TCPServerWrap').length

describe('addSampleData', () => {
  test(
    'error: its API does not start, and its receiver of webhooks ends too',
    async () => {
      const { url, db, drop } = await createDatabase()
      await db.raw('create schema steward_dev')
      const folder = fs.mkdtempSync(path.join(tmpdir(), 'steward-sample-'))
      const home = openHome({ STEWARD_HOME: folder })
      // The API has no folder for its log.
      const context = { home, signal: new AbortController().signal } as Context
      const facts = { databaseUrl: url, apiKey: '' } as Facts
      const devnet = { facts, contracts: {} } as Devnet
      const before = countServers()

      await expect(addSampleData(context, devnet)).rejects.toThrow('ENOENT')

      expect(countServers()).toBe(before)
      fs.rmSync(folder, { recursive: true })
      await drop()
    },
    START_MS,
  )
})

describe('passDays', () => {
  test('error: the days of an interrupted advance have passed instead', async () => {
    const { url, drop } = await createDatabase()
    const { node, contracts, release } = await takeDeployed('base-sepolia')
    const proxy = await startFaultProxy(node.url)
    const onAll = <Value>(value: Value) =>
      Object.fromEntries(chainNames.map((name) => [name, value])) as Record<ChainName, Value>
    const temporal = { temporalAddress: '127.0.0.1:1', temporalNamespace: 'none' }
    const facts = { databaseUrl: url, rpcUrls: onAll(proxy.url), ...temporal } as Facts
    const devnet = { facts, contracts: onAll(contracts) }
    proxy.set(({ method }) => (method === 'anvil_setStorageAt' ? 'http500' : undefined))
    await expect(advanceClock(devnet, 30)).rejects.toThrow('HTTP 500')
    proxy.set(undefined)

    await expect(passDays(devnet, 1)).rejects.toThrow('npm start -- --fresh --sample-data')

    await passDays(devnet, 1)
    await proxy.stop()
    await release()
    await drop()
  })
})
