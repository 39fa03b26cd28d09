import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import { readOwnArtifacts } from '../../../dev/devnet/contracts/artifacts.js'
import { startFront, type Front } from '../../../dev/devnet/rollup/front.js'
import { callRpc, callRpcBatch, type RpcCall } from '../../../dev/devnet/rpc.js'
import { ARB_GAS_INFO_ADDRESS } from '../../../evm/l1Costs.js'
import { startFaultProxy, type FaultProxy } from '../../support/faultProxy.js'

/** A front must not slow down or overload its node. */
describe('requests of a front to its node', () => {
  let node: Anvil
  let counted: FaultProxy
  let front: Front
  beforeAll(async () => {
    node = await startAnvil({ chainId: 421_614 })
    const { DevArbGasInfo } = await readOwnArtifacts()
    const code = DevArbGasInfo.deployedBytecode
    await callRpc(node.url, 'anvil_setCode', [ARB_GAS_INFO_ADDRESS, code])
    counted = await startFaultProxy(node.url)
    front = await startFront({ kind: 'nitro', target: counted.url })
  })
  afterAll(async () => {
    await front?.stop()
    await counted?.stop()
    await node?.stop()
  })

  const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const estimate: RpcCall = ['eth_estimateGas', [{ from: to, to, data: '0x01' }]]
  /** Requests to the node for a batch without errors. */
  const requestsFor = async (calls: RpcCall[]) => {
    const before = counted.load.total
    const answers = await callRpcBatch(front.url, calls)
    expect(answers.map(({ error }) => error)).toEqual(calls.map(() => undefined))
    return counted.load.total - before
  }

  test('estimates: one request, including the L1 costs', async () => {
    expect(await requestsFor([estimate])).toBe(1)
    expect(await requestsFor([estimate, ['eth_chainId', []], estimate])).toBe(1)
  })

  test('receipts: a second one for the costs of all of them', async () => {
    const hashes: string[] = []
    for (const value of [1, 2]) {
      const transfer = { from: to, to, value: toQuantity(value) }
      hashes.push(await callRpc<string>(node.url, 'eth_sendTransaction', [transfer]))
    }
    const asked = hashes.map((hash): RpcCall => ['eth_getTransactionReceipt', [hash]])
    expect(await requestsFor(asked)).toBe(2)
  })
})
