import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimNetwork } from '../../db/client/connect.js'
import { compiledFile } from '../support/temporal/workflowBundle.js'
import { createWorld, type World } from './world/fixture.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

let world: World

beforeAll(async () => {
  world = await createWorld()
  await claimNetwork(world.db, 'devnet')
})
afterAll(() => world?.stop())

/** A process with named pooled and direct sessions. */
async function start(role: 'relayer' | 'signer', changes = {}): Promise<ChildProcess> {
  const url = (name: string) => {
    const own = new URL(world.database.urlAs(`steward_${role}`))
    own.searchParams.set('application_name', `${role} ${name}`)
    return own.href
  }
  const { port } = new URL(world.proxy.url)
  const rpcUrl = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [compiledFile(`${role}/main.js`)], {
    cwd: root,
    env: {
      ...process.env,
      ...{ NETWORK: 'devnet', DEVNET_FILE: join(world.folder, 'devnet.json'), NODE_OPTIONS: '' },
      ...{ DATABASE_URL: url('pooled'), DATABASE_URL_DIRECT: url('direct') },
      // Unreachable chains are waited for.
      RPC_URL_ETHEREUM_SEPOLIA: 'http://127.0.0.1:9',
      RPC_URL_ARBITRUM_SEPOLIA: rpcUrl,
      RPC_URL_BASE_SEPOLIA: 'http://127.0.0.1:9',
      ...{ ATTESTATION_URL: 'http://127.0.0.1:9', KEK_FILE: join(world.folder, 'kek') },
      ...changes,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

async function sessions(where: string): Promise<string[]> {
  const { rows } = await world.db.raw<{ rows: { name: string }[] }>(
    `select distinct a.application_name as name from pg_stat_activity a
     left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory'
     where a.datname = current_database() and a.application_name ~ '^(relayer|signer) ' and ${where}`,
  )
  return rows.map(({ name }) => name)
}

test('sessions that listen or lead bypass the pooler', async () => {
  await world.driver().db.destroy()
  const children = [await start('relayer'), await start('signer')]
  try {
    await world.waitUntil(async () => (await sessions("a.query = 'listen operation'")).length === 2)
    const listening = await sessions("a.query = 'listen operation'")
    expect(listening.sort()).toEqual(['relayer direct', 'signer direct'])
    await world.waitUntil(async () => (await sessions('l.pid is not null')).length >= 1)
    const holding = await sessions('l.pid is not null')
    expect(holding).toEqual(['relayer direct'])
    expect(await sessions('l.pid is null')).toContain('signer pooled')
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((child) => once(child, 'exit')))
  }
})

test('a node of another chain is not used, and the other chains are served', async () => {
  const { port } = new URL(world.proxy.url)
  const foreign = { RPC_URL_ETHEREUM_SEPOLIA: `http://127.0.0.1:${port}` }
  const indexedOf = async (id: number) =>
    (await world.db('chain').where({ id }).first<{ indexed_block: bigint }>())?.indexed_block
  const before = (await indexedOf(world.chain.chainId)) ?? 0n
  const relayer = await start('relayer', foreign)
  try {
    await world.mine(3)
    await world.waitUntil(async () => ((await indexedOf(world.chain.chainId)) ?? 0n) > before)
    expect(await indexedOf(11_155_111)).toBeUndefined()
  } finally {
    relayer.kill('SIGTERM')
    await once(relayer, 'exit')
  }
})
