import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { addSampleData } from '../../../dev/sample/sampleData.js'
import { openHome } from '../../../dev/state/state.js'
import { createDatabase } from '../../support/database.js'
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
