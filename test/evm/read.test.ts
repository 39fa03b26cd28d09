import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Interface, ZeroAddress, toBeHex } from 'ethers'
import { connectChain, isRevert, type ChainClient } from '../../evm/connect.js'
import { MULTICALL_ADDRESS } from '../../evm/calls/multicall.js'
import { readBalance, readContract, type BlockRef } from '../../evm/read.js'
import { createRegistry } from '../../evm/registry.js'
import { readOwnArtifacts } from '../../dev/devnet/contracts/artifacts.js'
import { startAnvil, type Anvil } from '../../dev/devnet/anvil.js'
import { ServiceError } from '../../domain/errors.js'
import { startFaultProxy, type FaultProxy } from '../support/faultProxy.js'

const chain = createRegistry('testnet').get('base-sepolia')
const token = chain.usdc.address
/** Runtime code that returns one word, or one byte, for every call. */
const answersWord = '0x602a60005260206000f3'
const answersByte = '0x60016000f3'

let node: Anvil
let proxy: FaultProxy
let client: ChainClient

beforeAll(async () => {
  node = await startAnvil({ chainId: chain.chainId })
  proxy = await startFaultProxy(node.url)
  client = connectChain(chain, `${proxy.url}/v2/secret-key`)
})
afterEach(() => proxy.set(undefined))
afterAll(async () => {
  client?.close()
  await proxy?.stop()
  await node?.stop()
})

const erc20 = new Interface(['function balanceOf(address) view returns (uint256)'])
const setCode = (address: string, code: string) => client.send('anvil_setCode', [address, code])
const balanceOf = () =>
  readContract(client, { to: token, abi: erc20, name: 'balanceOf', args: [ZeroAddress] })

async function failure(reading: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown)
  if (error instanceof ServiceError) return error
  throw new Error(`Not an error of the service: ${String(error)}`)
}

/** Names the chain, the contract and the function, without details of the node or of ethers. */
function expectNoContract(error: ServiceError): void {
  expect(error.code).toBe('RPC_ERROR')
  expect(error.message).toBe(`base-sepolia cannot return balanceOf of ${token}: no contract there.`)
  expect(error.details).toEqual({
    ...{ chain: 'base-sepolia', method: 'eth_call', answered: true, reverted: false },
    ...{ decoded: false, reason: 'no contract there' },
  })
  expect(isRevert(error)).toBe(false)
}

describe('readContract', () => {
  test('returns what the contract answers', async () => {
    await setCode(token, answersWord)
    expect((await balanceOf())[0]).toBe(42n)
    expect(await readBalance(client, { token, owner: ZeroAddress })).toBe(42n)
  })

  test('error: RPC_ERROR without a contract', async () => {
    await setCode(token, '0x')
    expectNoContract(await failure(balanceOf()))
    expectNoContract(await failure(readBalance(client, { token, owner: ZeroAddress })))
  })

  test('error: RPC_ERROR for a malformed answer', async () => {
    await setCode(token, answersByte)
    const error = await failure(balanceOf())
    expect(error).toMatchObject({ code: 'RPC_ERROR', details: { chain: 'base-sepolia' } })
    expect(error.message).toContain('an answer of another shape')
    expect(error.message).not.toMatch(/BAD_DATA|ethers|value=/)
  })
})

describe('calls of one tick', () => {
  /** Runtime code that reverts without data, and with Error("no"). */
  const refuses = '0x60006000fd'
  const reason = new Interface(['function Error(string)']).encodeFunctionData('Error', ['no'])
  const explains = `0x6064600c60003960646000fd${reason.slice(2)}`
  const at = (digit: string) => `0x${digit.repeat(40)}`
  const places = [token, at('1'), at('2'), at('3')]
  const ask = (to: string, block: BlockRef = 'latest') =>
    readBalance(client, { token: to, owner: ZeroAddress, block })
  let calls: { to: string }[]

  beforeAll(async () => {
    const { DevMulticall } = await readOwnArtifacts()
    await setCode(MULTICALL_ADDRESS, DevMulticall.deployedBytecode)
    await setCode(token, answersWord)
    await setCode(at('1'), answersByte)
    await setCode(at('2'), refuses)
    await setCode(at('3'), explains)
  })
  beforeEach(() => {
    calls = []
    proxy.set(({ method, params }) => {
      if (method === 'eth_call') calls.push((params as [{ to: string }])[0])
      return undefined
    })
  })

  test('share one request, and each succeeds or fails alone', async () => {
    const [word, byte, refused, explained] = await Promise.allSettled(places.map((to) => ask(to)))
    expect(calls).toEqual([expect.objectContaining({ to: MULTICALL_ADDRESS })])
    expect(word).toEqual({ status: 'fulfilled', value: 42n })
    const reasonOf = (answer: typeof byte) =>
      (answer as PromiseRejectedResult).reason as ServiceError
    expect(reasonOf(byte).message).toContain('an answer of another shape')
    for (const answer of [refused, explained]) expect(isRevert(reasonOf(answer))).toBe(true)
    expect(reasonOf(explained).details).toMatchObject({ reason: 'no' })
  })

  test('fail like a single call', async () => {
    for (const to of [...places.slice(1), at('4')]) {
      const alone = await failure(ask(to))
      const [together] = await Promise.all([failure(ask(to)), ask(token)])
      const { message, details } = together
      expect({ message, details }).toEqual({ message: alone.message, details: alone.details })
    }
  })

  test('behind one that burns all gas are made again, each alone', async () => {
    await setCode(at('5'), '0xfe')
    const owners = Array.from({ length: 20 }, (_, i) => toBeHex(i, 20))
    const burning = owners.map((owner) => failure(readBalance(client, { token: at('5'), owner })))
    const others = owners.map((owner) => readBalance(client, { token, owner }))
    expect(await Promise.all(others)).toEqual(Array(20).fill(42n))
    for (const error of await Promise.all(burning)) expect(isRevert(error)).toBe(true)
  })

  test('at several blocks use one request per block', async () => {
    await Promise.all([ask(token), ask(token, 'finalized'), ask(token), ask(token, 'finalized')])
    expect(calls).toHaveLength(2)
  })

  test('that are equal are sent once', async () => {
    expect(await Promise.all(Array.from({ length: 50 }, () => ask(token)))).toEqual(
      Array(50).fill(42n),
    )
    // Sent to the contract directly, because it was the only call.
    expect(calls).toEqual([expect.objectContaining({ to: token })])
  })

  test('beyond the limit use several requests', async () => {
    const owners = Array.from({ length: 250 }, (_, i) => toBeHex(i, 20))
    const asked = owners.map((owner) => readBalance(client, { token, owner }))
    expect(new Set(await Promise.all(asked))).toEqual(new Set([42n]))
    expect(calls).toHaveLength(3)
  })

  test('error: RPC_ERROR for all when the node does not answer', async () => {
    proxy.set(({ method }) => (method === 'eth_call' ? 'http500' : undefined))
    const errors = await Promise.all([failure(ask(token)), failure(ask(at('1')))])
    for (const { details } of errors) expect(details).toMatchObject({ answered: false })
  })

  test('error: RPC_ERROR for all without Multicall3', async () => {
    await setCode(MULTICALL_ADDRESS, '0x')
    const errors = await Promise.all([failure(ask(token)), failure(ask(at('1')))])
    for (const { message } of errors)
      expect(message).toContain(`no Multicall3 at ${MULTICALL_ADDRESS}`)
  })
})
