import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chainNames, createRegistry } from '../../../evm/registry.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { markChain } from '../../../dev/stack/chainState.js'
import { writeJson } from '../../../dev/state/jsonFile.js'
import { openDevnet } from '../../../dev/state/openDevnet.js'
import { makeFolders, openHome } from '../../../dev/state/state.js'
import { UserError } from '../../../dev/terminal.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { takeBare } from '../../support/nodes.js'
import { placeholders } from '../../planning/chains.js'

const id = 'ab'.repeat(16)
const other = 'cd'.repeat(16)

let database: TestDatabase
let api: Server
let nodes: Awaited<ReturnType<typeof takeBare>>[]
const env = { STEWARD_HOME: fs.mkdtempSync(path.join(tmpdir(), 'steward-devnet-')) }

beforeAll(async () => {
  database = await createDatabase()
  api = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { db } = database
  await db.raw('create schema steward_dev')
  await db.raw('create table steward_dev.state_set (id text primary key)')
})

afterAll(async () => {
  api.close()
  fs.rmSync(env.STEWARD_HOME, { recursive: true })
  await database.drop()
})

beforeEach(async () => {
  const registry = createRegistry('testnet')
  nodes = await Promise.all(chainNames.map((name) => takeBare(registry.get(name).chainId)))
  const home = openHome(env)
  makeFolders(home)
  const { port } = api.address() as AddressInfo
  writeJson(home.facts, {
    hostUrl: `http://127.0.0.1:${port}`,
    databaseUrl: database.url,
    rpcUrls: Object.fromEntries(chainNames.map((name, i) => [name, nodes[i]?.node.url])),
  })
  writeJson(home.contracts, placeholders)
  writeJson(home.set, { id, isComplete: true, places: {} })
  for (const { node } of nodes) await markChain(node.url, id)
  await markDatabase(id)
})

afterEach(() => Promise.all(nodes.map(({ release }) => release())))

async function markDatabase(mark: string): Promise<void> {
  await database.db('steward_dev.state_set').delete()
  await database.db('steward_dev.state_set').insert({ id: mark })
}

const urlOf = (i: number) => nodes[i]?.node.url ?? ''

describe('openDevnet', () => {
  test('default: the database and all chains hold the mark of the set', async () => {
    const { facts, contracts } = await openDevnet(env)
    expect([facts.databaseUrl, contracts]).toEqual([database.url, placeholders])
  })

  test('error: the database belongs to another set', async () => {
    await markDatabase(other)
    await expect(openDevnet(env)).rejects.toThrow('The database belongs to another set')
  })

  test('error: the database has no mark', async () => {
    await database.db('steward_dev.state_set').delete()
    await expect(openDevnet(env)).rejects.toThrow('The database has lost its state')
  })

  test('error: a chain belongs to another set', async () => {
    await markChain(urlOf(2), other)
    await expect(openDevnet(env)).rejects.toThrow(`The chain ${chainNames[2]} belongs to another`)
  })

  test('error: a chain has no mark, also when the first start is not finished', async () => {
    writeJson(openHome(env).set, { id, isComplete: false, places: {} })
    await callRpc(urlOf(1), 'anvil_reset')
    await expect(openDevnet(env)).rejects.toThrow(`The chain ${chainNames[1]} has lost its state`)
  })

  test.each(['missing', 'damaged'])('error: the file of addresses is %s', async (state) => {
    const { contracts } = openHome(env)
    if (state === 'missing') fs.rmSync(contracts)
    else fs.writeFileSync(contracts, '{')

    const opened = openDevnet(env)

    await expect(opened).rejects.toBeInstanceOf(UserError)
    await expect(opened).rejects.toThrow(/devnet\.json does not have .+: npm start$/)
  })
})
