import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity, Wallet, ZeroHash, type TransactionRequest } from 'ethers'
import { ARB_GAS_INFO_ADDRESS, GAS_PRICE_ORACLE_ADDRESS } from '../../../evm/l1Costs.js'
import { createRegistry, type ChainName } from '../../../evm/registry.js'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import { readOwnArtifacts } from '../../../dev/devnet/contracts/artifacts.js'
import { startFront, type Front } from '../../../dev/devnet/rollup/front.js'
import { callRpc, callRpcBatch } from '../../../dev/devnet/rpc.js'
import { waitForMined } from './sponsor.js'

const GWEI = 1_000_000_000n
const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** Random data, which does not compress. */
const data = Wallet.createRandom().signingKey.sign(ZeroHash).serialized

type RollupChain = { node: Anvil; front: Front; chainId: number }

async function startChain(name: ChainName): Promise<RollupChain> {
  const { rollup: kind, chainId } = createRegistry('testnet').get(name)
  if (!kind) throw new Error(`${name} is no rollup.`)
  const node = await startAnvil({ chainId, baseFeeWei: GWEI / 50n })
  const own = await readOwnArtifacts()
  const [at, { deployedBytecode }] =
    kind === 'nitro'
      ? [ARB_GAS_INFO_ADDRESS, own.DevArbGasInfo]
      : [GAS_PRICE_ORACLE_ADDRESS, own.DevGasPriceOracle]
  await callRpc(node.url, 'anvil_setCode', [at, deployedBytecode])
  return { node, front: await startFront({ kind, target: node.url }), chainId }
}

async function createSender(url: string, wei: bigint): Promise<Wallet> {
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  await callRpc(url, 'anvil_setBalance', [wallet.address, toQuantity(wei)])
  return wallet
}

/** A call whose execution costs no more than its data. */
const callOf = (chainId: number, changes: TransactionRequest = {}): TransactionRequest => ({
  ...{ type: 2, chainId, nonce: 0, to: account, data, gasLimit: 100_000n },
  ...{ maxFeePerGas: GWEI, maxPriorityFeePerGas: 0n, ...changes },
})

let chain: RollupChain
const stop = async () => {
  await chain?.front.stop()
  await chain?.node.stop()
}

describe('a node of Nitro', () => {
  beforeAll(async () => {
    chain = await startChain('arbitrum-sepolia')
  })
  afterAll(stop)

  const send = async (gasLimit: bigint) => {
    const sender = await createSender(chain.front.url, 10n ** 18n)
    const raw = await sender.signTransaction(callOf(chain.chainId, { gasLimit }))
    return callRpc<string>(chain.front.url, 'eth_sendRawTransaction', [raw])
  }

  test('rejects a gas limit that covers the call but not its data on L1', async () => {
    const call = { from: account, to: account, data }
    const alone = BigInt(await callRpc<string>(chain.node.url, 'eth_estimateGas', [call]))
    const whole = BigInt(await callRpc<string>(chain.front.url, 'eth_estimateGas', [call]))
    expect(whole).toBeGreaterThan(alone)
    await expect(send(alone)).rejects.toThrow('intrinsic gas too low')
    const receipt = await waitForMined(chain.front.url, await send(whole))
    const { gasUsed, gasUsedForL1 } = receipt as unknown as Record<string, string>
    expect(BigInt(gasUsedForL1 ?? 0)).toBeGreaterThan(0n)
    expect(BigInt(gasUsed ?? 0)).toBeLessThanOrEqual(whole)
    expect(BigInt(gasUsed ?? 0) - BigInt(gasUsedForL1 ?? 0)).toBe(alone)
  })

  test('suggests no tip', async () => {
    expect(await callRpc(chain.front.url, 'eth_maxPriorityFeePerGas')).toBe('0x0')
  })
})

describe('a node of the OP Stack', () => {
  beforeAll(async () => {
    chain = await startChain('base-sepolia')
  })
  afterAll(stop)

  test('rejects a sender that can pay gas and value, but not the L1 fee', async () => {
    const { url } = chain.front
    const cost = 100_000n * GWEI + 7n
    const sender = await createSender(url, cost)
    const raw = await sender.signTransaction(callOf(chain.chainId, { value: 7n }))
    const refused = callRpc(url, 'eth_sendRawTransaction', [raw])
    await expect(refused).rejects.toThrow('insufficient funds for gas * price + value')
    await callRpc(url, 'anvil_setBalance', [sender.address, toQuantity(cost + GWEI * 1_000n)])
    const hash = await callRpc<string>(url, 'eth_sendRawTransaction', [raw])
    const receipt = (await waitForMined(url, hash)) as unknown as Record<string, string>
    expect(BigInt(receipt.l1Fee ?? 0)).toBeGreaterThan(0n)
    expect(BigInt(receipt.l1GasUsed ?? 0)).toBeGreaterThan(0n)
    expect(BigInt(receipt.l1GasPrice ?? 0)).toBe(GWEI)
  })

  test('answers a batch in order, with accepted and rejected transactions', async () => {
    const { url } = chain.front
    const rich = await createSender(url, 10n ** 18n)
    const poor = await createSender(url, 1n)
    const raws = [poor, rich].map((wallet) => wallet.signTransaction(callOf(chain.chainId)))
    const [poorRaw, richRaw] = await Promise.all(raws)
    const answers = await callRpcBatch<string>(url, [
      ['eth_chainId', []],
      ['eth_sendRawTransaction', [poorRaw]],
      ['eth_maxPriorityFeePerGas', []],
      ['eth_sendRawTransaction', [richRaw]],
    ])
    const [id, refused, tip, taken] = answers
    expect(id).toEqual({ result: toQuantity(chain.chainId) })
    expect(refused?.error).toContain('insufficient funds')
    expect(tip).toEqual({ result: toQuantity(GWEI / 1_000n) })
    expect(taken?.result).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test('forwards other methods, and errors with their data', async () => {
    const ask = (url: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'eth_nonsense', params: [] }),
      }).then((response) => response.text())
    expect(await ask(chain.front.url)).toBe(await ask(chain.node.url))
  })
})

describe('a front', () => {
  test('error: its port is taken', async () => {
    const [first, target] = [await startFront({ kind: 'nitro', target: 'http://127.0.0.1:1' }), '']
    const port = Number(new URL(first.url).port)
    await expect(startFront({ kind: 'nitro', target, port })).rejects.toThrow('is taken')
    await first.stop()
  })

  test('closes the connection when its node is unreachable', async () => {
    const front = await startFront({ kind: 'nitro', target: 'http://127.0.0.1:1' })
    await expect(callRpc(front.url, 'eth_chainId')).rejects.toThrow('fetch failed')
    await expect(callRpc(front.url, 'eth_gasPrice')).rejects.toThrow('fetch failed')
    await front.stop()
  })
})
