import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Interface, ZeroAddress } from 'ethers'
import { connectChain, isRevert, type ChainClient } from '../../chains/connect.js'
import { multicallAddress, readMany } from '../../chains/multicall.js'
import { erc20, readBalance, readContract } from '../../chains/read.js'
import { createRegistry } from '../../chains/registry.js'
import { startAnvil, type Anvil } from '../../devnet/anvil.js'
import { ServiceError } from '../../domain/errors.js'
import { startFaultProxy, type FaultProxy } from '../support/faultProxy.js'

const chain = createRegistry('testnet').get('base-sepolia')
const token = chain.usdc.address
/** Runtime code that answers every call with one word, or with one byte. */
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

const setCode = (address: string, code: string) => client.send('anvil_setCode', [address, code])
const balanceOf = () => readContract(client, token, erc20, 'balanceOf', [ZeroAddress])

async function failure(reading: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown)
  if (error instanceof ServiceError) return error
  throw new Error(`Not an error of the service: ${String(error)}`)
}

/** Names the chain, the contract and the function, and nothing of the node or of ethers. */
function expectNoContract(error: ServiceError): void {
  expect(error.code).toBe('RPC_ERROR')
  expect(error.message).toBe(`base-sepolia cannot tell balanceOf of ${token}: no contract there.`)
  expect(error.details).toEqual({
    ...{ chain: 'base-sepolia', method: 'eth_call', answered: true, reverted: false },
    reason: 'no contract there',
  })
  expect(isRevert(error)).toBe(false)
}

describe('readContract', () => {
  test('returns what the contract answers', async () => {
    await setCode(token, answersWord)
    expect((await balanceOf())[0]).toBe(42n)
    expect(await readBalance(client, token, ZeroAddress, 'latest')).toBe(42n)
  })

  test('error: RPC_ERROR where there is no contract', async () => {
    await setCode(token, '0x')
    expectNoContract(await failure(balanceOf()))
    expectNoContract(await failure(readBalance(client, token, ZeroAddress, 'latest')))
  })

  test('error: RPC_ERROR for an answer of another shape', async () => {
    await setCode(token, answersByte)
    const error = await failure(balanceOf())
    expect(error).toMatchObject({ code: 'RPC_ERROR', details: { chain: 'base-sepolia' } })
    expect(error.message).toContain('an answer of another shape')
    expect(error.message).not.toMatch(/BAD_DATA|ethers|value=/)
  })
})

describe('readMany', () => {
  const multicall = new Interface([
    'function aggregate3((address, bool, bytes)[]) returns ((bool success, bytes data)[])',
  ])
  const read = { to: token, abi: erc20, name: 'balanceOf', parameters: [ZeroAddress] }

  test('error: RPC_ERROR when one of its contracts is not there', async () => {
    const answer = multicall.encodeFunctionResult('aggregate3', [[[true, '0x']]])
    proxy.set(({ method }) => (method === 'eth_call' ? { answer } : undefined))
    expectNoContract(await failure(readMany(client, [read])))
  })

  test('error: RPC_ERROR when the multicall itself is not there', async () => {
    const error = await failure(readMany(client, [read]))
    expect(error.message).toContain(`aggregate3 of ${multicallAddress}: no contract there`)
  })
})
