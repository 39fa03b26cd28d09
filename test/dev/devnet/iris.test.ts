import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ZeroAddress, ZeroHash } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readContractBlock } from '../../../evm/read.js'
import { circleLimit } from '../../../dev/devnet/iris/limit.js'
import { startIris } from '../../../dev/devnet/iris/iris.js'
import {
  held,
  mintAt,
  mintCall,
  people,
  refusal,
  startBridge,
  type TestBridge,
  type BurnArguments,
} from './bridge.js'

const { sender, recipient, stranger } = people
const usdc = 1_000_000n

let bridge: TestBridge
let arbitrum: ChainClient
let base: ChainClient
beforeAll(async () => {
  bridge = await startBridge()
  ;({ arbitrum, base } = bridge)
})
afterAll(() => bridge?.stop())
const noFaults = {
  ...{ delayMs: 0, stuck: false, notFound: false, expire: false, outage: false },
  ...{ fastMaximum: 10_000_000, fastAllowance: 10_000_000 },
}
afterEach(async () => void (await bridge.setFaults(noFaults)))

/** From arbitrum to base. */
const burn = (order: Partial<BurnArguments> = {}) =>
  bridge.burn({ from: arbitrum, to: base, ...order })
const ask = async (hash: string) => (await bridge.askFor(arbitrum, hash)).message
const attested = (hash: string, blocks = 1) => bridge.attested(arbitrum, hash, blocks)
const statusOf = async (path: string, init?: RequestInit) => (await bridge.ask(path, init)).status
const reattest = (nonce: string) => statusOf(`/v2/reattest/${nonce}`, { method: 'POST' })

describe('a fast burn', () => {
  test('is unknown, then pending, then complete', async () => {
    expect((await bridge.askFor(arbitrum, ZeroHash)).status).toBe(404)
    const hash = await burn()
    const pending = await ask(hash)
    expect(pending).toMatchObject({ status: 'pending_confirmations', attestation: 'PENDING' })
    expect(pending).toMatchObject({ message: '0x', decodedMessage: null, delayReason: null })
    expect((await attested(hash)).eventNonce).toBe(pending?.eventNonce)
  })

  test('has the format of Circle: numbers are text', async () => {
    const { decodedMessage, eventNonce, ...rest } = await attested(await burn({ maxFee: 250n }))
    expect(rest).toMatchObject({ cctpVersion: 2, status: 'complete', delayReason: null })
    expect(decodedMessage).toMatchObject({
      ...{ sourceDomain: '3', destinationDomain: '6', nonce: eventNonce },
      ...{ minFinalityThreshold: '1000', finalityThresholdExecuted: '1000' },
      ...{ sender: arbitrum.chain.cctp.tokenMessenger, recipient: base.chain.cctp.tokenMessenger },
      destinationCaller: ZeroAddress,
      decodedMessageBody: {
        ...{ burnToken: arbitrum.chain.usdc.address, mintRecipient: recipient },
        ...{ amount: '1000000', messageSender: sender, maxFee: '250', feeExecuted: '100' },
        expirationBlock: expect.stringMatching(/^[1-9]\d*$/),
        hookData: null,
      },
    })
  })

  test('costs at least one unit', async () => {
    const { decodedMessage } = await attested(await burn({ amount: 2n, maxFee: 1n }))
    expect(decodedMessage.decodedMessageBody.feeExecuted).toBe('1')
  })

  test.each([
    ['pays less than the fee', 'insufficient_fee', { maxFee: 99n }, {}],
    ['moves more than one may', 'amount_above_max', {}, { fastMaximum: 0.999999 }],
    ['is not vouched for', 'insufficient_allowance_available', {}, { fastAllowance: 0.999999 }],
  ])('that %s becomes a standard one', async (_title, delayReason, order, faults) => {
    const had = await held(base, recipient)
    await bridge.setFaults(faults)
    const hash = await burn(order)
    await bridge.mine(arbitrum, 1)
    const reason = { delayReason }
    expect(await ask(hash)).toMatchObject({ status: 'pending_confirmations', ...reason })
    const message = await attested(hash, 2)
    expect(message).toMatchObject(reason)
    await mintAt(base, message)
    expect((await held(base, recipient)) - had).toBe(usdc)
  })
})

test('a standard burn waits for finality and costs nothing', async () => {
  const had = await held(base, recipient)
  const hash = await burn({ finality: 2_000, maxFee: 0n })
  await bridge.mine(arbitrum, 1)
  expect((await ask(hash))?.status).toBe('pending_confirmations')
  const message = await attested(hash, 2)
  expect(message.decodedMessage).toMatchObject({
    finalityThresholdExecuted: '2000',
    decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
  })
  await mintAt(base, message)
  expect((await held(base, recipient)) - had).toBe(usdc)
})

describe('POST /v2/reattest', () => {
  test('an expired attestation is reissued as final, and minted at the same fee', async () => {
    await bridge.setFaults({ expire: true })
    const hash = await burn()
    const expired = await attested(hash)
    expect(await refusal(base, stranger, mintCall(base, expired))).toContain('Message expired')
    expect(await reattest(expired.eventNonce)).toBe(200)
    const renewed = await attested(hash, 2)
    expect(renewed.decodedMessage).toMatchObject({
      finalityThresholdExecuted: '2000',
      decodedMessageBody: { feeExecuted: '100', expirationBlock: '0' },
    })
    const had = await held(base, recipient)
    await mintAt(base, renewed)
    expect((await held(base, recipient)) - had).toBe(999_900n)
    expect(await refusal(base, stranger, mintCall(base, expired))).toContain('Nonce already used')
  })

  test('an attestation stays unchanged until the burn is final', async () => {
    await bridge.setFaults({ expire: true })
    const hash = await burn()
    const { eventNonce, message } = await attested(hash)
    await reattest(eventNonce)
    expect((await ask(hash))?.message).toBe(message)
  })

  test('400 for a message that is already final, which stays unchanged', async () => {
    const hash = await burn({ finality: 2_000, maxFee: 0n })
    const final = await attested(hash, 3)
    const answer = await bridge.ask(`/v2/reattest/${final.eventNonce}`, { method: 'POST' })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ code: 400, error: expect.stringContaining('finalized') })
    expect(await ask(hash)).toEqual(final)
  })

  test('404 for a nonce that was never attested', async () => {
    expect(await reattest(ZeroHash)).toBe(404)
  })
})

describe('POST /dev/faults', () => {
  test('stuck: pending until the fault is cleared', async () => {
    await bridge.setFaults({ stuck: true })
    const hash = await burn()
    await expect(attested(hash, 9)).rejects.toThrow('not attested')
    await bridge.setFaults({ stuck: false })
    await attested(hash, 0)
  })

  test('delayMs: pending until the delay has passed', async () => {
    await bridge.setFaults({ delayMs: 3_600_000 })
    const hash = await burn()
    await expect(attested(hash, 9)).rejects.toThrow('not attested')
    await bridge.setFaults({ delayMs: 1 })
    while ((await ask(hash))?.status !== 'complete');
  })

  test('notFound: 404 until the fault is cleared', async () => {
    await bridge.setFaults({ notFound: true })
    const hash = await burn()
    expect((await bridge.askFor(arbitrum, hash)).status).toBe(404)
    await bridge.setFaults({ notFound: false })
    expect((await bridge.askFor(arbitrum, hash)).status).toBe(200)
  })

  test('outage: 503 on every path, and earlier attestations remain', async () => {
    const hash = await burn()
    const message = await attested(hash)
    await bridge.setFaults({ outage: true })
    expect((await bridge.askFor(arbitrum, hash)).status).toBe(503)
    expect(await statusOf('/v2/fastBurn/USDC/allowance')).toBe(503)
    await bridge.setFaults({ outage: false })
    expect(await ask(hash)).toEqual(message)
  })

  test.each(['{"stuk":true}', '{"delayMs":-1}', '"stuck"', '{'])('400 for %s', async (body) => {
    expect(await statusOf('/dev/faults', { method: 'POST', body })).toBe(400)
  })
})

test('an attestation for arbitrum expires by the block number that contracts see there', async () => {
  await bridge.setFaults({ expire: true })
  const hash = await bridge.burn({ from: base, to: arbitrum })
  const { decodedMessage } = await bridge.attested(base, hash)
  const seen = await readContractBlock(arbitrum)
  expect(decodedMessage.decodedMessageBody.expirationBlock).toBe(seen.toString())
})

describe('startIris', () => {
  test('gives a burn the same nonce after a restart', async () => {
    const hash = await burn()
    const { eventNonce } = await attested(hash)
    await bridge.restartIris()
    expect((await ask(hash))?.eventNonce).toBe(eventNonce)
  })

  test('finds a burn on its own chain only', async () => {
    const hash = await burn()
    expect((await bridge.askFor(base, hash)).status).toBe(404)
  })

  test('returns fees and allowance', async () => {
    const read = async (path: string) => (await bridge.ask(path)).json()
    expect(await read('/v2/burn/USDC/fees/3/6')).toEqual([
      { finalityThreshold: 1_000, minimumFee: 1 },
      { finalityThreshold: 2_000, minimumFee: 0 },
    ])
    await bridge.setFaults({ fastAllowance: 12.5 })
    const allowance = { allowance: 12.5, lastUpdated: expect.any(String) }
    expect(await read('/v2/fastBurn/USDC/allowance')).toEqual(allowance)
  })

  test.each([
    [404, '/v2/burn/USDC/fees/3/99'],
    [404, `/v2/messages/99?transactionHash=${ZeroHash}`],
    [404, '/v1/messages'],
    [400, '/v2/messages/3'],
    [400, '/v2/messages/3?transactionHash=0x12'],
  ])('%d for %s', async (status, path) => {
    expect(await statusOf(path)).toBe(status)
  })
})

describe('the limit', () => {
  const allowance = '/v2/fastBurn/USDC/allowance'
  const start = (limit?: typeof circleLimit) =>
    startIris({ port: 0, chains: [], ...(limit && { limit }) })
  const statuses = async (url: string, paths: string[]) =>
    Promise.all(paths.map(async (path) => (await fetch(url + path)).status))

  test("is Circle's: 35 requests a second, then all callers are rejected for 5 minutes", () => {
    expect(circleLimit).toEqual({ requests: 35, windowMs: 1_000, blockMs: 300_000 })
  })

  test('counts all requests together, then rejects every path', async () => {
    // Longer than the test on a slow machine.
    const iris = await start({ ...circleLimit, windowMs: 3_600_000 })
    try {
      const messages = `/v2/messages/3?transactionHash=${ZeroHash}`
      const paths = [allowance, messages, '/v2/burn/USDC/fees/3/6', '/v1/unknown', allowance]
      const seven = Array.from({ length: 7 }, () => paths).flat()
      expect(await statuses(iris.url, seven)).not.toContain(429)
      expect(iris.blocks()).toBe(0)
      expect(await statuses(iris.url, paths)).toEqual(paths.map(() => 429))
      expect(iris.blocks()).toBe(1)
      const faults = await fetch(`${iris.url}/dev/faults`, { method: 'POST', body: '{}' })
      expect(faults.status).toBe(200)
    } finally {
      await iris.stop()
    }
  })

  test('ends after its time', async () => {
    const iris = await start({ requests: 1, windowMs: 20, blockMs: 40 })
    try {
      while ((await fetch(iris.url + allowance)).status !== 429);
      while ((await fetch(iris.url + allowance)).status === 429);
      expect(iris.blocks()).toBe(1)
    } finally {
      await iris.stop()
    }
  })
})
