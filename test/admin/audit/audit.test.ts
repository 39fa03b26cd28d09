import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rpcVariable, type ChainName } from '../../../evm/registry.js'
import { runAudit } from '../../../admin/audit/auditCommand.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../../db/rows.js'
import { startChains, type TestChains } from '../../planning/chains.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let world: TestChains
let database: TestDatabase
let folder: string
let env: NodeJS.ProcessEnv
let wallet: TestWallet

beforeAll(async () => {
  ;[world, database] = await Promise.all([startChains(), createDatabase()])
  folder = mkdtempSync(join(tmpdir(), 'steward-audit-'))
  const file = join(folder, 'devnet.json')
  writeFileSync(file, JSON.stringify(world.contracts))
  const nodes = Object.entries(world.urls).map(([name, url]) => {
    return [rpcVariable(name as ChainName), url]
  })
  env = {
    ...{ NETWORK: 'devnet', DEVNET_FILE: file, DATABASE_URL: database.url },
    ...(Object.fromEntries(nodes) as NodeJS.ProcessEnv),
  }
  wallet = await insertTestWallet(database.db, '0x00000000000000000000000000000000DeaDBeef')
  const { accountId: account_id } = wallet
  const { balance } = await database
    .db('account')
    .where({ id: account_id })
    .first<{ balance: bigint }>(database.db.raw('granted + purchased as balance'))
  if (balance > 0n) {
    const grant = { account_id, request_id: 'req_grant', reason: 'grant:test' }
    const sums = await database.db('ledger').where({ account_id }).sum<{ sum: string }[]>('delta')
    const missing = balance - BigInt(sums[0]?.sum ?? 0)
    if (missing !== 0n) await database.db('ledger').insert({ ...grant, delta: String(missing) })
  }
})
afterAll(async () => {
  if (folder) rmSync(folder, { recursive: true, force: true })
  await world?.stop()
  await database?.drop()
})

const printed: string[] = []
const run = (...argv: string[]) =>
  runAudit([...argv, '--without-temporal'], env, (line) => void printed.push(line))

describe('npm run audit', () => {
  test('exit 0: reports no differences, and its progress', async () => {
    expect(await run()).toEqual({ text: 'No differences.', exitCode: 0 })
    expect(printed).toEqual(expect.arrayContaining(['credits', 'base-sepolia: senders']))
  })

  test('exit 1: reports differences as a table and as JSON, and writes nothing', async () => {
    const id = await insertTestIntent(database.db, wallet, 'completed')
    const { text, exitCode } = (await run()) ?? {}
    expect(exitCode).toBe(1)
    expect(text).toMatch(/CHECK +ABOUT +ROW +CHAIN +FIX/)
    expect(text).toContain(`intent ${id}`)
    const report = JSON.parse((await run('--json'))?.text ?? '') as { differences: object[] }
    expect(report.differences).toMatchObject([{ check: 'ends', row: 'completed', isFixable: true }])
    const row = await database.db('intent').where({ id }).first<{ status: string }>('status')
    expect(row).toEqual({ status: 'completed' })
  })

  test('--reconcile fixes and reports differences, and has no effect the second time', async () => {
    const { text, exitCode } = (await run('--reconcile')) ?? {}
    expect([exitCode, text]).toEqual([0, '1 fixed.\nNo differences.'])
    expect(printed.filter((line) => line.startsWith('fixed: intent '))).toHaveLength(1)
    expect(await run('--reconcile')).toEqual({ text: 'No differences.', exitCode: 0 })
  })

  test('--older-than reports rows of that age with their wait reason', async () => {
    const created_at = new Date(Date.now() - 3_600_000)
    const id = await insertTestIntent(database.db, wallet, 'pending', { created_at })
    expect(await run('--older-than', '2h')).toEqual({ text: 'No differences.', exitCode: 0 })
    const { text, exitCode } = (await run('--older-than', '30m')) ?? {}
    expect(exitCode).toBe(1)
    expect(text).toMatch(new RegExp(`ages +intent ${id} +pending since .+ +waits for its plan`))
    await database.db('intent').where({ id }).delete()
  })

  test('--help returns no report', async () => {
    expect(await runAudit(['--help'], {})).toBeUndefined()
  })

  test.each([
    ['an unknown option', ['--repair'], {}, 'INVALID_REQUEST'],
    ['a malformed age', ['--older-than', '1'], {}, 'INVALID_REQUEST'],
    ['an age without its value', ['--older-than'], {}, 'INVALID_REQUEST'],
    ['no settings', [], { STEWARD_HOME: '/nowhere' }, 'MISCONFIGURED'],
  ])('error: %s', async (_what, argv, settings, code) => {
    await expect(runAudit(argv, settings)).rejects.toMatchObject({ code })
  })

  test('error: no chain, no Temporal, or another role than the owner, without a URL in the message', async () => {
    const nowhere = 'http://127.0.0.1:9/secret-key'
    const silent = { ...env, [rpcVariable('base-sepolia')]: nowhere }
    const asWorker = { ...env, DATABASE_URL: database.urlAs('steward_worker') }
    const without = ['--without-temporal']
    await database.db('chain').insert({
      ...{ id: 84_532, name: 'base-sepolia', indexed_block: 1, indexed_hash: '0x' },
      finalized_block: 0,
    })
    const errors = await Promise.all(
      [
        runAudit(without, silent),
        runAudit([], { ...env, TEMPORAL_ADDRESS: '127.0.0.1:9' }),
        runAudit(without, asWorker),
      ].map((report) => report.catch((error: unknown) => error as Error & { code: string })),
    )
    const codes = errors.map((error) => (error instanceof Error ? error.code : undefined))
    expect(codes).toEqual(['RPC_ERROR', 'MISCONFIGURED', 'MISCONFIGURED'])
    expect(errors.map((error) => (error as Error).message).join()).not.toContain('secret')
  })
})
