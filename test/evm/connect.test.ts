import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Interface, getAddress, id } from 'ethers'
import { connectChain, type ChainClient } from '../../evm/connect.js'
import { createRegistry } from '../../evm/registry.js'
import { startAnvil, type Anvil } from '../../dev/devnet/anvil.js'
import { ServiceError } from '../../domain/errors.js'
import { startFaultProxy, type RpcFault, type FaultProxy } from '../support/faultProxy.js'

const chain = createRegistry('testnet').get('base-sepolia')
/** Runtime code that reverts with Error("no"), and one that reverts without data. */
const reason = new Interface(['function Error(string)']).encodeFunctionData('Error', ['no'])
const words = [reason.slice(2, 10).padEnd(64, '0'), reason.slice(10)]
const withReason = `0x6064600c60003960646000fd${words[0]?.slice(0, 8)}${words[1]}`
const silently = '0x60006000fd'
const at = (name: string) => getAddress(`0x${id(name).slice(-40)}`)

describe('send', () => {
  let node: Anvil
  let proxy: FaultProxy
  let client: ChainClient

  beforeAll(async () => {
    node = await startAnvil({ chainId: chain.chainId })
    proxy = await startFaultProxy(node.url)
    client = connectChain(chain, `${proxy.url}/v2/secret-key`)
    await client.send('anvil_setCode', [at('reason'), withReason])
    await client.send('anvil_setCode', [at('silent'), silently])
  })
  afterEach(() => proxy.set(undefined))
  afterAll(async () => {
    client?.close()
    await proxy?.stop()
    await node?.stop()
  })

  const failure = async (method: string, params: unknown[] = []): Promise<ServiceError> => {
    const error: unknown = await client.send(method, params).catch((thrown: unknown) => thrown)
    if (error instanceof ServiceError) return error
    throw new Error('It did not fail.')
  }

  test('a failing call does not affect the others of its batch', async () => {
    const [number, error, chainId] = await Promise.all([
      client.send('eth_blockNumber', []),
      failure('no_such_method'),
      client.send('eth_chainId', []),
    ])
    expect(Number(number)).toBeGreaterThanOrEqual(0)
    expect(error.details).toMatchObject({ answered: true, reverted: false })
    expect(Number(chainId)).toBe(chain.chainId)
  })

  test.each(['eth_call', 'eth_estimateGas'])(
    '%s: a revert is reported with its reason',
    async (method) => {
      const error = await failure(method, [{ to: at('reason') }])
      expect(error.details).toMatchObject({ reverted: true, answered: true, reason: 'no' })
    },
  )

  test.each(['eth_call', 'eth_estimateGas'])(
    '%s: a revert without data is reported',
    async (method) => {
      const error = await failure(method, [{ to: at('silent') }])
      expect(error.details).toMatchObject({ reverted: true, answered: true })
    },
  )

  test.each<RpcFault>(['http500', 'http429', 'reset', 'lostReply'])(
    'error: RPC_ERROR without an answer (%s)',
    async (fault) => {
      proxy.set(() => fault)
      const error = await failure('eth_blockNumber')
      expect(error).toMatchObject({ code: 'RPC_ERROR' })
      expect(error.details).toMatchObject({ answered: false, reverted: false })
      expect(proxy.counts[fault as string]).toBe(1)
    },
  )

  test('error: never names the endpoint, whose URL may hold a key', async () => {
    for (const fault of ['http500', 'http429', 'reset'] as const) {
      proxy.set(() => fault)
      const error = await failure('eth_blockNumber')
      const text = [error.message, error.stack, JSON.stringify(error.details), error.cause]
      expect(text.join(' ')).not.toMatch(/secret-key|127\.0\.0\.1/)
    }
  })

  test.each(['eth_call', 'eth_blockNumber'])(
    "error: a URL in a node's message is removed (%s)",
    async (method) => {
      const { host } = new URL(proxy.url)
      const message = `execution reverted for key secret-key at ${host}, see https://node.example/docs?k=secret-key`
      proxy.set(() => ({ error: { code: -32_000, message } }))
      const error = await failure(method, [{}])
      const text = [error.message, error.stack, JSON.stringify(error.details)].join(' ')
      expect(text).not.toMatch(/secret-key|127\.0\.0\.1|node\.example/)
      expect(error.details.reason).toBe('execution reverted for key … at …, see …')
    },
  )
})
