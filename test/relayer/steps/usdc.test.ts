import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { createWorld, owner, usdcUnits, type Submitted, type World } from '../world/fixture.js'
import { createArrival, expectArrived, insertCrossing, submitBurn } from '../bridge/crossing.js'
import type { SignerTools } from '../../../signer/signingContext.js'

const circle = new Interface([
  'function pause()',
  'function unpause()',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function denylist(address account)',
  'function unDenylist(address account)',
])

let world: World
beforeAll(async () => {
  world = await createWorld({ senderCount: 1 })
})
afterAll(() => world?.stop())

/** An action of Circle on its own contract, in a block of its own. */
async function asCircle(to: string, name: string, ...args: string[]): Promise<void> {
  const data = circle.encodeFunctionData(name, args)
  await world.rpc('eth_sendTransaction', [{ from: owner, to, data }])
  await world.mine()
  await world.index()
}
const atToken = (name: string, ...args: string[]) =>
  asCircle(world.chain.usdc.address, name, ...args)
const atMessenger = (name: string, ...args: string[]) =>
  asCircle(world.chain.cctp.tokenMessenger, name, ...args)
const atTransmitter = (name: string) => asCircle(world.chain.cctp.messageTransmitter, name)

/** Signs twice, the second time at a later block. */
async function signTwice(submitted: Submitted, signer: SignerTools = world.signer): Promise<void> {
  await world.sign(signer)
  await world.mine()
  await world.index()
  await world.retryNow(submitted)
  await world.sign(signer)
}

const fund = async () => world.fund(await world.createWallet(0n))
const lend = async () => world.lend(await world.createWallet(usdcUnits), usdcUnits)

describe('a funding', () => {
  test("is paid under the name of Circle's token on the chain", async () => {
    const { operationId, wallet } = await fund()
    await world.round()
    expect(await world.row(operationId)).toMatchObject({ state: 'confirmed', success: true })
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
  })

  test('is refused and never sent when the token has another name', async () => {
    const { usdc } = world.chain
    const eip712 = { ...usdc.eip712, name: 'USDC' }
    const client = world.createClient({ usdc: { ...usdc, eip712 } })
    const signer = { ...world.signer, chains: { list: [client], byId: () => client } }
    const before = (await world.transactions()).length
    const submitted = await fund()
    await signTwice(submitted, signer)
    expect(await world.row(submitted.operationId)).toMatchObject({
      ...{ state: 'rejected', code: 'FUNDING_FAILED', payload: null },
      message: expect.stringContaining('DOMAIN_SEPARATOR'),
    })
    expect(await world.transactions()).toHaveLength(before)
  })
})

describe('while USDC is paused', () => {
  beforeAll(() => atToken('pause'))
  afterAll(() => atToken('unpause'))

  test('a lend fails with the reason, and its money stays in the wallet', async () => {
    await atToken('unpause')
    const submitted = await lend()
    await atToken('pause')
    await signTwice(submitted)
    expect(await world.row(submitted.operationId)).toMatchObject({
      ...{ state: 'rejected', code: 'DEPOSIT_FAILED', payload: null },
      message: 'The call would fail: Circle has paused it (Pausable: paused)',
    })
    expect(await world.usdcOf(submitted.wallet.address)).toBe(usdcUnits)
  })

  test('a funding waits, and is paid afterwards', async () => {
    const { operationId, ...submitted } = await fund()
    await world.sign()
    const deferred = await world.row(operationId)
    expect(deferred).toMatchObject({ state: 'deferred', code: 'FUNDING_FAILED' })
    expect(deferred?.message).toContain('Circle has paused it')
    await atToken('unpause')
    await world.retryNow({ operationId, ...submitted })
    await world.round()
    expect(await world.usdcOf(submitted.wallet.address)).toBe(usdcUnits)
  })
})

describe('a wallet that Circle has blacklisted', () => {
  const blacklisted = 'Circle has blacklisted the account (Blacklistable: account is blacklisted)'

  test('lends nothing and keeps its money, and lends it after the release', async () => {
    const { wallet, ...submitted } = await lend()
    await atToken('blacklist', wallet.address)
    await signTwice(submitted)
    expect(await world.row(submitted.operationId)).toMatchObject({
      ...{ state: 'rejected', code: 'DEPOSIT_FAILED' },
      message: `The call would fail: ${blacklisted}`,
    })
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
    await atToken('unBlacklist', wallet.address)
    const again = await world.lend(wallet, usdcUnits)
    await world.round()
    expect(await world.row(again.operationId)).toMatchObject({ state: 'confirmed', success: true })
  })

  test('after its signature fails alone, with the reason', async () => {
    const [listed, neighbour] = [await lend(), await lend()]
    await world.sign()
    await atToken('blacklist', listed.wallet.address)
    await world.round()
    const failed = { state: 'confirmed', success: false, message: blacklisted }
    expect(await world.row(listed.operationId)).toMatchObject(failed)
    expect(await world.usdcOf(listed.wallet.address)).toBe(usdcUnits)
    expect(await world.row(neighbour.operationId)).toMatchObject({ success: true })
  })
})

describe('the bridge', () => {
  test('burns nothing of a wallet on its denylist, which keeps its money', async () => {
    const wallet = await world.createWallet(usdcUnits)
    const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
    const submitted = await submitBurn(world, crossing)
    await atMessenger('denylist', wallet.address)
    await signTwice(submitted)
    const text = 'the account is on the denylist of the bridge'
    expect(await world.row(submitted.operationId)).toMatchObject({
      ...{ state: 'rejected', code: 'BRIDGE_FAILED', payload: null },
      message: `The call would fail: ${text} (Denylistable: account is on denylist)`,
    })
    expect(await world.usdcOf(wallet.address)).toBe(usdcUnits)
  })

  test.each<[string, (name: string) => Promise<void>]>([
    ['USDC', atToken],
    ['the bridge itself', atTransmitter],
  ])('mints burned money after a pause of %s', async (_what, at) => {
    const wallet = await world.createWallet(0n)
    const arrival = await createArrival(world, wallet, usdcUnits)
    const submitted = await world.submit(arrival.order)
    await at('pause')
    await signTwice(submitted)
    const waiting = { state: 'deferred', code: 'BRIDGE_TIMEOUT', payload: null }
    expect(await world.row(submitted.operationId)).toMatchObject(waiting)
    await at('unpause')
    await world.retryNow(submitted)
    await world.round()
    await expectArrived(world, arrival, submitted)
  })
})
