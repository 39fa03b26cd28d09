import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createStopFile } from '../../../signer/check/stopFile.js'
import { refillOnce } from '../../../signer/senders/refill.js'
import { resubmitNow, replaceStuck, mineAt, useLend } from '../../relayer/world/scenes/stuck.js'
import { setBalance } from '../../relayer/world/gas.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'

const GWEI = 1_000_000_000n

let world: World
let path: string
const lent = useLend(() => world)
beforeAll(async () => {
  world = await createWorld({ senderCount: 1, changes: { stuckAfter: { seconds: 0, blocks: 1 } } })
  path = join(world.folder, 'stop-signing')
})
afterEach(() => {
  world.proxy.set(undefined)
  rmSync(path, { force: true })
})
afterAll(() => world?.stop())

const stop = () => writeFileSync(path, '')
const resume = () => rmSync(path)
const messages = () => world.logs.map(({ message }) => message)
const countOf = (message: string) => messages().filter((one) => one === message).length

describe('the stop file of the signer', () => {
  test('waiting operations keep waiting, and continue when it is removed; each change is logged once', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const { operationId } = await world.lend(wallet, usdcUnits)
    const before = [countOf('signing stopped by a file'), countOf('signing resumed')]
    stop()
    for (let i = 0; i < 3; i++) expect(await world.sign()).toBe(false)
    expect(await world.row(operationId)).toMatchObject({ state: 'queued', payload: null })
    resume()
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    const after = [countOf('signing stopped by a file'), countOf('signing resumed')]
    expect(after).toEqual(before.map((count) => count + 1))
  })

  test.each(['a lend', 'a funding', 'a resubmission'])(
    '%s that is being prepared when it appears is not signed',
    async (kind) => {
      const wallet = await world.createWallet(kind === 'a funding' ? 0n : usdcUnits)
      const submitted =
        kind === 'a funding' ? await world.fund(wallet) : await world.lend(wallet, usdcUnits)
      const { operationId } = submitted
      if (kind === 'a resubmission') {
        await world.sign()
        await world.db('chain_tx_send').delete()
        await world.db('operation').where({ id: operationId }).update({ tx_id: null })
        await world.db('chain_tx').where({ state: 'open' }).delete()
        await world.db('sender').update({ next_nonce: world.db.raw('next_nonce - 1') })
      }
      const before = (await world.transactions()).length
      world.proxy.set(() => void stop())
      await world.sign()
      expect(existsSync(path)).toBe(true)
      expect(await world.transactions()).toHaveLength(before)
      if (kind !== 'a resubmission') {
        expect(await world.row(operationId)).toMatchObject({ payload: null, waits_for: 'SIGNER' })
      }
      world.proxy.set(undefined)
      resume()
      await world.retryNow(submitted)
      await resubmitNow(world)
      await world.round()
      expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    },
  )

  test('a stuck transaction is not replaced, and a sender is not refilled', async () => {
    await lent.begin()
    await world.broadcast()
    await mineAt(world, 4n * GWEI)
    await world.index()
    const [sender = ''] = world.senders
    await setBalance(world, sender, 10n ** 15n)
    const { db, chains, keyring, log } = world.signer
    const limits = { highestWei: 10n ** 16n, dailyWei: 10n ** 17n, reserveWei: 0n }
    const refilling = {
      ...{ db, chains, keyring, log, reported: new Set<string>() },
      limits: Object.fromEntries([[world.chain.name, limits]]) as never,
    }
    const before = (await world.transactions()).length
    stop()
    await replaceStuck(world)
    await refillOnce(refilling, chains.byId(0))
    expect(await lent.sends()).toHaveLength(1)
    expect(await world.transactions()).toHaveLength(before)
    resume()
    await setBalance(world, sender, 10n ** 18n)
    await replaceStuck(world)
    expect(await lent.sends()).toHaveLength(2)
    await world.broadcast()
    await mineAt(world, 4n * GWEI)
    await world.index()
    await lent.expectDone({ minedSend: 2 })
  })

  test('counts as present when the disk cannot report its absence, and as a dangling link', () => {
    expect(createStopFile(path, world.log).isThere()).toBe(false)
    expect(createStopFile(join(world.folder, 'missing', 'file'), world.log).isThere()).toBe(false)
    expect(createStopFile('x'.repeat(5_000), world.log).isThere()).toBe(true)
    symlinkSync(join(world.folder, 'missing'), path)
    const dangling = createStopFile(path, world.log)
    expect(dangling.isThere()).toBe(true)
    expect(() => dangling.assertAbsent()).toThrow('stops all signatures. Remove it.')
  })
})
