import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity, Wallet } from 'ethers'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import { startFront, type Front } from '../../../dev/devnet/rollup/front.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { readOwnArtifacts } from '../../../dev/devnet/contracts/artifacts.js'
import { GAS_PRICE_ORACLE_ADDRESS } from '../../../evm/l1Costs.js'

const GWEI = 1_000_000_000n
const chainId = 84_532

describe('the replacement of a pending transaction', () => {
  let node: Anvil
  let front: Front
  let sender: Wallet
  beforeAll(async () => {
    node = await startAnvil({ chainId })
    const { DevGasPriceOracle } = await readOwnArtifacts()
    const code = DevGasPriceOracle.deployedBytecode
    await callRpc(node.url, 'anvil_setCode', [GAS_PRICE_ORACLE_ADDRESS, code])
    await callRpc(node.url, 'evm_setAutomine', [false])
    front = await startFront({ kind: 'op-stack', target: node.url })
    sender = new Wallet(Wallet.createRandom().privateKey)
    const balance = toQuantity(10n ** 18n)
    await callRpc(node.url, 'anvil_setBalance', [sender.address, balance])
    await send(100n, 100n)
  })
  afterAll(async () => {
    await front?.stop()
    await node?.stop()
  })

  /** In percent of 10 gwei, and of a tip of 1 gwei. */
  const send = async (feePercent: bigint, tipPercent: bigint) => {
    const fees = {
      maxFeePerGas: (10n * GWEI * feePercent) / 100n,
      maxPriorityFeePerGas: (GWEI * tipPercent) / 100n,
    }
    const to = sender.address
    const call = { type: 2, chainId, nonce: 0, to, gasLimit: 21_000n, ...fees }
    const raw = await sender.signTransaction(call)
    return callRpc<string>(front.url, 'eth_sendRawTransaction', [raw])
  }

  test.each([
    [105n, 105n],
    [120n, 105n],
    [105n, 120n],
    [120n, 100n],
  ])('is refused at %s %% of its fee and %s %% of its tip, as geth does', async (fee, tip) => {
    await expect(send(fee, tip)).rejects.toThrow('replacement transaction underpriced')
  })

  test('is accepted when both fees are a tenth higher', async () => {
    const hash = await send(110n, 110n)
    await callRpc(node.url, 'evm_mine')
    const receipt = await callRpc<{ status: string }>(node.url, 'eth_getTransactionReceipt', [hash])
    expect(receipt.status).toBe('0x1')
  })
})
