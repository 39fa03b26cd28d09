import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rpcVariable, type ChainName } from '../../evm/registry.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { diagnose, USAGE } from '../../admin/doctorCommand.js'
import { describeSenders } from '../../admin/account/senderAnswers.js'
import { printReport } from '../../admin/report.js'
import { makeKek } from '../custody/kek/kekFile.js'
import { startChains, type TestChains } from '../planning/chains.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { hearCommand } from './heard.js'

const NOWHERE = '0x00000000000000000000000000000000DeaDBeef'
const SENDER = '0x0000000000000000000000000000000000001A4E'
const TREASURY = '0x00000000000000000000000000000000000071EA'
const BASE = 84_532

let world: TestChains
let database: TestDatabase
let folder: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  ;[world, database] = await Promise.all([startChains(), createDatabase()])
  folder = mkdtempSync(join(tmpdir(), 'steward-doctor-'))
  const nodes = Object.entries(world.urls).map(([name, url]) => [
    rpcVariable(name as ChainName),
    url,
  ])
  env = {
    ...{ NETWORK: 'devnet', DEVNET_FILE: contractsFile(), DATABASE_URL: database.url },
    ...(Object.fromEntries(nodes) as NodeJS.ProcessEnv),
  }
  const { id, publicKey } = await makeKek()
  await database.db('kek').insert({ id, public_key: Buffer.from(publicKey), active: true })
  const sealed = Buffer.from('00', 'hex')
  await database.db('treasury').insert({ address: TREASURY, kek_id: id, sealed })
  const sender = { chain_id: BASE, sender: SENDER, kek_id: id, sealed_key: sealed, next_nonce: 3 }
  await database.db('sender').insert(sender)
  const nonces = [1, 2].map((nonce) => ({ chain_id: BASE, sender: SENDER, nonce }))
  await database.db('chain_tx').insert(nonces)
  await world.mint('arbitrum-sepolia', TREASURY, 50_000_000n)
  const wei = `0x${(10n ** 18n).toString(16)}`
  await callRpc(world.urls['base-sepolia'], 'anvil_setBalance', [SENDER, wei])
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world?.stop()
  await database?.drop()
})

/** A file of the deployed contracts, with changes for one chain. */
function contractsFile(chain?: ChainName, changes: object = {}): string {
  const file = join(folder, `devnet-${chain ?? 'whole'}.json`)
  const { contracts } = world
  const own = chain ? { [chain]: { ...contracts[chain], ...changes } } : {}
  writeFileSync(file, JSON.stringify({ ...contracts, ...own }))
  return file
}

describe('npm run doctor', () => {
  test('exit 0: a table of all checks, with treasury and senders', async () => {
    const answer = await diagnose([], env)
    expect(answer?.exitCode).toBe(0)
    expect(answer?.text).toMatch(/^CHAIN +CHECK +OUTCOME +DETAIL +DISABLES\n/)
    expect(answer?.text).toMatch(/^base-sepolia +EntryPoint +ok +/m)
    expect(answer?.text).toContain('the treasury has 50 USDC')
    expect(answer?.text).toContain('the sender has 1 ETH')
    expect(answer?.text).toMatch(/All checks passed\.$/)
  })

  test('exit 1: names the failed check and the disabled capability, also with --json', async () => {
    const broken = { ...env, DEVNET_FILE: contractsFile('ethereum-sepolia', { comet: NOWHERE }) }
    const answer = await diagnose([], broken)
    expect(answer?.exitCode).toBe(1)
    const failed = answer?.text.split('\n').filter((line) => / failed +no /.test(line))
    expect(failed).toHaveLength(1)
    expect(failed?.[0]).toMatch(
      new RegExp(`^ethereum-sepolia +compound-v3 market +failed .* the market ${NOWHERE}$`),
    )
    const json = await diagnose(['--json'], broken)
    const report = JSON.parse(json?.text ?? '') as { chains: { disabled: unknown[] }[] }
    expect(json?.exitCode).toBe(1)
    expect(report.chains.map(({ disabled }) => disabled.length)).toEqual([1, 0, 0])
  })

  test('contains no host of a node or of the database', async () => {
    const texts = [await diagnose([], env), await diagnose(['--json'], env)]
    const urls = [...Object.values(world.urls), database.url]
    for (const answer of texts) {
      for (const url of urls) expect(answer?.text).not.toContain(new URL(url).host)
    }
  })

  test('exit 2: wrong arguments and settings, each in one line', async () => {
    const doctor = (args: string[], settings: NodeJS.ProcessEnv) =>
      hearCommand(() =>
        printReport(() => diagnose(args, { STEWARD_HOME: folder, ...settings }), USAGE),
      )
    const misused = await doctor(['--jsn'], env)
    const unset = await doctor([], { DATABASE_URL: '', NETWORK: '' })
    expect([misused.code, misused.stdout]).toEqual([2, ''])
    expect(misused.stderr).toMatch(/--jsn/)
    expect([unset.code, unset.stdout]).toEqual([2, ''])
    expect(unset.stderr).toMatch(
      /^NETWORK is not set and npm start is not running\. Set NETWORK, or run npm start\.$/m,
    )
  })
})

describe('a treasury that refills senders', () => {
  afterAll(() => database.db('sender').where({ purpose: 'treasury' }).delete())

  test('is checked on each chain, with a warning without ETH', async () => {
    const { kek_id, sealed_key } = await database
      .db('sender')
      .where({ sender: SENDER })
      .first<{ kek_id: string; sealed_key: Buffer }>()
    const own = { sender: TREASURY, kek_id, sealed_key, purpose: 'treasury' }
    await database.db('sender').insert({ chain_id: BASE, ...own })
    const answer = await diagnose([], env)
    expect(answer).toMatchObject({ exitCode: 0 })
    expect(answer?.text).toMatch(/treasury gas 0x\w+ +warning +the treasury has no ETH to refill/)
    const { text, json } = await describeSenders(database.db, env)
    expect(text).toMatch(new RegExp(`^base-sepolia +treasury +${TREASURY} +0 ETH .+ 0 lends$`, 'm'))
    expect(json).toMatchObject({
      treasury: [{ asset: 'USDC' }, { chain: 'base-sepolia', asset: 'ETH', balance: '0' }],
      senders: [{ address: SENDER }],
    })
  })
})

describe('npm run account -- senders', () => {
  test('shows addresses, balances, open nonces, and how long the gas lasts', async () => {
    const { text, json } = await describeSenders(database.db, env)
    expect(text).toMatch(/^CHAIN +ROLE +ADDRESS +BALANCE +NEXT NONCE +OPEN +LASTS$/m)
    expect(text).toMatch(
      new RegExp(`^arbitrum-sepolia +treasury +${TREASURY} +50 USDC +- +- +50 fundings$`, 'm'),
    )
    expect(text).toMatch(
      new RegExp(`^base-sepolia +sender +${SENDER} +1 ETH +3 +2 +\\d+ lends$`, 'm'),
    )
    expect(json).toMatchObject({
      treasury: [{ chain: 'arbitrum-sepolia', balance: '50', lasts: 50 }],
      senders: [
        { chain: 'base-sepolia', address: SENDER, balance: '1', nextNonce: 3, openNonces: 2 },
      ],
    })
  })

  test('shows the other chains when one does not answer', async () => {
    const variable = rpcVariable('base-sepolia')
    const { text } = await describeSenders(database.db, {
      ...env,
      [variable]: 'http://127.0.0.1:1',
    })
    expect(text).toMatch(new RegExp(`^base-sepolia +sender +${SENDER} +no answer +3 +2 +-$`, 'm'))
    expect(text).toContain('50 USDC')
  })
})
