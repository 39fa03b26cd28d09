import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { claimNetwork } from '../../../db/client/connect.js'
import { openAccount } from '../../../custody/open.js'
import { makeKek } from '../../custody/kek/kekFile.js'
import { compiledFile } from '../../support/temporal/workflowBundle.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const hex = (bytes: number) => randomBytes(bytes).toString('hex')
const canary = { rpc: `rpc${hex(12)}`, password: `pw${hex(12)}`, secret: hex(28) }
const role = `steward_canary_${hex(4)}`

let database: TestDatabase
let postgres: TcpProxy
let node: Server
let apiKey: string
const kek = await makeKek()
const processes: ChildProcess[] = []

beforeAll(async () => {
  database = await createDatabase()
  const { db, url } = database
  await db.raw(`create role ${role} login in role steward_api password '${canary.password}'`)
  const { hostname, port } = new URL(url)
  postgres = await startTcpProxy({ host: hostname, port: Number(port) })
  // A node that fails as gateways do, and repeats what it was asked.
  node = createServer((request, response) => response.writeHead(500).end(`no ${request.url}`))
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  await claimNetwork(db, 'testnet')
  const row = { id: kek.id, public_key: Buffer.from(kek.publicKey), active: true }
  await db('kek').insert(row)
  for (const [id, name] of [
    [11_155_111, 'ethereum-sepolia'],
    [421_614, 'arbitrum-sepolia'],
    [84_532, 'base-sepolia'],
  ] as const) {
    await db('chain').insert({ id, name, indexed_block: 1, indexed_hash: '0x', finalized_block: 0 })
  }
  const { id } = await createAccount(db, { name: 'test', plan: 'pro' })
  apiKey = await createApiKey(db, id, { name: 'test' })
})
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL')
  await postgres.stop()
  node.close()
  await database.db.raw(`drop owned by ${role}; drop role ${role}`)
  await database.drop()
})

const settings = (password: string): Record<string, string> => {
  const databaseUrl = new URL(database.url)
  Object.assign(databaseUrl, { username: role, password, hostname: '127.0.0.1' })
  databaseUrl.port = String(postgres.port)
  const { port } = node.address() as AddressInfo
  return {
    ...{ NETWORK: 'testnet', LOG_LEVEL: 'trace', API_PORT: '0', TEMPORAL_ADDRESS: '127.0.0.1:1' },
    DATABASE_URL: databaseUrl.href,
    RPC_URL_ETHEREUM_SEPOLIA: `http://127.0.0.1:${port}/v3/${canary.rpc}`,
    RPC_URL_ARBITRUM_SEPOLIA: `http://127.0.0.1:${port}/v3/${canary.rpc}?key=${canary.rpc}`,
    RPC_URL_BASE_SEPOLIA: `http://user:${canary.rpc}@127.0.0.1:1/v3/${canary.rpc}`,
  }
}

/** A process of the service as an operator runs it, and everything that it has said. */
function run(file: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--enable-source-maps', compiledFile(file)], {
    ...{ cwd: root, env: { PATH: process.env.PATH, ...env } },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  processes.push(child)
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output.text += String(chunk)))
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, output, ended }
}

async function portOf({ output, ended }: ReturnType<typeof run>): Promise<number> {
  const done = ended.then((code) => Promise.reject(new Error(`exit ${code}: ${output.text}`)))
  const found = (async () => {
    for (;;) {
      const port = /"port":(\d+)/.exec(output.text)?.[1]
      if (port) return Number(port)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  return Promise.race([found, done])
}

const mistyped = `svc_sk_${canary.secret}00000000`
const unknown = `svc_sk_${canary.secret}${crc32(canary.secret).toString(16).padStart(8, '0')}`

describe('secrets', () => {
  test('appear neither in responses nor in the log when everything fails', async () => {
    const api = run('api/main.js', settings(canary.password))
    const url = `http://127.0.0.1:${await portOf(api)}`
    let said = ''
    const call = async (path: string, key: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const response = await fetch(url + path, { headers, ...init })
      const text = await response.text()
      said += `${JSON.stringify([...response.headers])}${text}`
      return { status: response.status, body: JSON.parse(text) as { id: string; address: string } }
    }
    for (const key of [mistyped, unknown]) {
      expect((await call('/v1/wallets/a', key)).status).toBe(401)
    }
    const { body: wallet } = await call('/v1/wallets', apiKey, { userId: 'a' })
    const lend = { walletId: wallet.id, action: 'lend', amount: 1 }
    // The nodes fail and Temporal is away.
    const pending = await call('/v1/intents', apiKey, lend)
    expect(pending).toMatchObject({ status: 201, body: { status: 'pending' } })
    expect((await call(`/v1/intents/${pending.body.id}`, apiKey)).status).toBe(200)
    expect((await call('/readyz', apiKey)).status).toBe(200)
    postgres.set('closed')
    expect((await call('/v1/intents', apiKey, lend)).status).toBe(503)
    expect((await call('/v1/wallets/a', unknown)).status).toBe(503)
    postgres.set('open')
    api.child.kill('SIGTERM')
    expect(await api.ended).toBe(0)

    said += api.output.text
    expect(said).toContain('request failed')
    for (const secret of [...Object.values(canary), apiKey.slice(7)]) {
      expect(said).not.toContain(secret)
    }
    expect(said).not.toContain(await privateKeyOf(wallet))
  })

  test('do not appear in the last log lines of an API that the database rejects', async () => {
    const wrong = `wrong${hex(12)}`
    const api = run('api/main.js', settings(wrong))
    expect(await api.ended).not.toBe(0)
    expect(api.output.text).not.toContain(wrong)
    expect(api.output.text).not.toContain(canary.rpc)
  })

  test('do not appear in the error about settings', async () => {
    const bad = `not a url ${hex(12)}`
    const env = { ...settings(canary.password), DATABASE_URL: bad, RPC_URL_BASE_SEPOLIA: bad }
    const api = run('api/main.js', env)
    expect(await api.ended).not.toBe(0)
    expect(api.output.text).toMatch(/DATABASE_URL: .*\n.*RPC_URL_BASE_SEPOLIA: /)
    expect(api.output.text).not.toContain(bad)
    expect(api.output.text).not.toContain(canary.rpc)
  })
})

/** The hex digits of a wallet's private key, as only the signer can read it. */
async function privateKeyOf({ id, address }: { id: string; address: string }): Promise<string> {
  const row = await database
    .db('wallet as w')
    .join('wallet_secret as s', 's.wallet_id', 'w.id')
    .where('w.id', id)
    .first<{ sealed: Buffer; account_id: string }>()
  const account = await openAccount(kek, row.sealed, {
    ...{ purpose: 'wallet', owner: id, accountId: row.account_id, address, kekId: kek.id },
  })
  return account.privateKey.slice(2)
}
