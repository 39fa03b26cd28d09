import { describe, expect, test } from 'vitest'
import { Wallet, keccak256 } from 'ethers'
import { isRefusedForGood } from '../../evm/connect.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { chain, failure, shortWaits, useEndpoints, waitUntil } from './endpoints.js'
import type { Anvil } from '../../dev/devnet/anvil.js'
import type { RpcFault } from '../support/faultProxy.js'

/** First account of the devnet. */
const funded = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const { connectApart } = useEndpoints()

describe('eth_sendRawTransaction', () => {
  const transfer = (nonce: number) =>
    funded.signTransaction({
      ...{ type: 2, chainId: chain.chainId, nonce, to: funded.address, gasLimit: 21_000 },
      ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n },
    })
  const sentTo = ({ url }: Anvil) =>
    callRpc(url, 'eth_getTransactionCount', [funded.address, 'latest']).then(Number)

  test('sends to all endpoints', async () => {
    const { one, other, client } = await connectApart()
    const raw = await transfer(0)
    expect(await client.send('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
    await waitUntil(async () => (await sentTo(one)) === 1 && (await sentTo(other)) === 1)
  })

  test.each<RpcFault>(['silence', 'http500', { error: { code: -32000, message: 'no' } }])(
    'succeeds when one endpoint accepts (%j)',
    async (fault) => {
      const { other, a, client } = await connectApart()
      a.set(({ method }) => (method === 'eth_sendRawTransaction' ? fault : undefined))
      await client.send('eth_sendRawTransaction', [await transfer(0)])
      await waitUntil(async () => (await sentTo(other)) === 1)
    },
  )

  test('succeeds when the transaction is already known', async () => {
    const { one, other, client } = await connectApart()
    for (const { url } of [one, other]) await callRpc(url, 'evm_setAutomine', [false])
    const raw = await transfer(0)
    for (let i = 0; i < 2; i++) {
      expect(await client.send('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
    }
  })

  test("error: RPC_ERROR with the node's message when all reject it", async () => {
    const { one, other, client } = await connectApart()
    await client.send('eth_sendRawTransaction', [await transfer(0)])
    await waitUntil(async () => (await sentTo(one)) === 1 && (await sentTo(other)) === 1)
    const error = await failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
    expect(error.details).toMatchObject({ answered: true, reason: expect.stringMatching(/nonce/) })
  })

  test('error: RPC_ERROR without an answer when one endpoint did not answer and the others reject it', async () => {
    const { a, b, client } = await connectApart()
    a.set(() => 'lostReply')
    b.set(() => ({ error: { code: -32000, message: 'nonce too low' } }))
    const error = await failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
    expect(error.details).toMatchObject({ answered: false })
  })

  describe('isRefusedForGood', () => {
    const refuse = (message: string): RpcFault => ({ refuse: { code: -32000, message } })
    const sendRefused = async (first: string, second: string) => {
      const { a, b, client } = await connectApart()
      a.set(() => refuse(first))
      b.set(() => refuse(second))
      return failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
    }

    test.each([
      'intrinsic gas too low: have 21000, want 53000',
      'exceeds block gas limit',
      'transaction gas limit too high (cap: 16777216, tx: 20000000)',
      'tx fee (1.50 ether) exceeds the configured cap (1.00 ether)',
      'oversized data: transaction size 140000, limit 131072',
    ])('true when all reject it permanently: %s', async (message) => {
      expect(isRefusedForGood(await sendRefused(message, 'intrinsic gas too low'))).toBe(true)
    })

    test.each([
      ['nonce too low', 'intrinsic gas too low'],
      ['intrinsic gas too low', 'nonce too low'],
      ['replacement transaction underpriced', 'replacement transaction underpriced'],
      ['insufficient funds for gas * price + value', 'exceeds block gas limit'],
    ])('false when one rejection may be temporary: %s, %s', async (first, second) => {
      expect(isRefusedForGood(await sendRefused(first, second))).toBe(false)
    })

    test('false when one endpoint did not answer', async () => {
      const { a, b, client } = await connectApart({ waits: shortWaits })
      a.set(() => refuse('intrinsic gas too low'))
      b.set(() => 'silence')
      const error = await failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
      expect(isRefusedForGood(error)).toBe(false)
    })
  })
})
