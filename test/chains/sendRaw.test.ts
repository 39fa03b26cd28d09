import { describe, expect, test } from '@jest/globals'
import { Wallet, keccak256 } from 'ethers'
import { callRpc } from '../../devnet/rpc.js'
import { chain, failure, useEndpoints, waitUntil } from './endpoints.js'
import type { Anvil } from '../../devnet/anvil.js'
import type { Fault } from '../support/faultProxy.js'

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

  test('reaches all', async () => {
    const { one, other, client } = await connectApart()
    const raw = await transfer(0)
    expect(await client.send('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
    await waitUntil(async () => (await sentTo(one)) === 1 && (await sentTo(other)) === 1)
  })

  test.each<Fault>(['silence', 'http500', { error: { code: -32000, message: 'no' } }])(
    'is taken when one takes it (%j)',
    async (fault) => {
      const { other, a, client } = await connectApart()
      a.set(({ method }) => (method === 'eth_sendRawTransaction' ? fault : undefined))
      await client.send('eth_sendRawTransaction', [await transfer(0)])
      await waitUntil(async () => (await sentTo(other)) === 1)
    },
  )

  test('is taken where it is known already', async () => {
    const { one, other, client } = await connectApart()
    for (const { url } of [one, other]) await callRpc(url, 'evm_setAutomine', [false])
    const raw = await transfer(0)
    for (let i = 0; i < 2; i++) {
      expect(await client.send('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
    }
  })

  test('error: RPC_ERROR as the node says it when all refuse it', async () => {
    const { one, other, client } = await connectApart()
    await client.send('eth_sendRawTransaction', [await transfer(0)])
    await waitUntil(async () => (await sentTo(one)) === 1 && (await sentTo(other)) === 1)
    const error = await failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
    expect(error.details).toMatchObject({ answered: true, reason: expect.stringMatching(/nonce/) })
  })

  test('error: RPC_ERROR without an answer when one of those that did not take it was not heard', async () => {
    const { a, b, client } = await connectApart()
    a.set(() => 'lostReply')
    b.set(() => ({ error: { code: -32000, message: 'nonce too low' } }))
    const error = await failure(client.send('eth_sendRawTransaction', [await transfer(0)]))
    expect(error.details).toMatchObject({ answered: false })
  })
})
