import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hexlify, Interface, keccak256, randomBytes, TypedDataEncoder, type Wallet } from 'ethers'
import {
  chainNames,
  createRegistry,
  DELEGATE_ADDRESS,
  ENTRY_POINT_ADDRESS,
  type ChainName,
  type DevnetContracts,
} from '../../../evm/registry.js'
import { startAnvil, type Anvil } from '../../../dev/devnet/anvil.js'
import {
  readAaveArtifact,
  readAccountArtifact,
  readOwnArtifacts,
} from '../../../dev/devnet/contracts/artifacts.js'
import { deployChain, fundOperators } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { createWallet, sponsorCalls, waitForMined } from './sponsor.js'

type RunningDevnet = {
  url: string
  chainId: number
  contracts: DevnetContracts
  stop(): Promise<void>
}

const name: ChainName = 'arbitrum-sepolia'
/** Accounts of the devnet's mnemonic, for which anvil signs. The first one deployed all contracts. */
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const sponsor = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11'
const yearSeconds = 31_536_000
const usdc = 1_000_000n

const token = new Interface((await readOwnArtifacts()).DevUSDC.abi)
const pool = new Interface(readAaveArtifact('protocol/pool/Pool').abi)
const account = new Interface(readAccountArtifact('Simple7702Account').abi)

const nodes: Anvil[] = []
const chains = new Map<ChainName, RunningDevnet>()

async function startNode(chain: ChainName): Promise<Anvil & { chainId: number }> {
  const { chainId } = createRegistry('testnet').get(chain)
  const node = await startAnvil({ chainId })
  nodes.push(node)
  return { ...node, chainId }
}

function getChain(chain: ChainName = name): RunningDevnet {
  const found = chains.get(chain)
  if (!found) throw new Error(`${chain} was not started.`)
  return found
}

beforeAll(async () => {
  for (const chain of chainNames) {
    const node = await startNode(chain)
    chains.set(chain, { ...node, contracts: await deployChain(chain, node.url) })
  }
})

afterAll(() => Promise.all(nodes.map((node) => node.stop())))

async function read(to: string, abi: Interface, method: string, args: unknown[], url: string) {
  const data = abi.encodeFunctionData(method, args)
  const result = await callRpc<string>(url, 'eth_call', [{ to, data }, 'latest'])
  return abi.decodeFunctionResult(method, result)
}

async function balanceOf(holder: string, contract: string, url = getChain().url): Promise<bigint> {
  const [balance] = await read(contract, token, 'balanceOf', [holder], url)
  return balance as bigint
}

async function send(transaction: object, url = getChain().url) {
  return waitForMined(url, await callRpc<string>(url, 'eth_sendTransaction', [transaction]))
}

/** Supply APY of USDC in percent, compounded per second as Aave does. */
async function readApy({ url, contracts }: RunningDevnet): Promise<number> {
  const [reserve] = await read(
    contracts.aavePool,
    pool,
    'getReserveData',
    [contracts.aaveAsset],
    url,
  )
  const rate = Number((reserve as { currentLiquidityRate: bigint }).currentLiquidityRate) / 1e27
  return Math.expm1(Math.log1p(rate / yearSeconds) * yearSeconds) * 100
}

async function mint(holder: string, amount: bigint): Promise<void> {
  const data = token.encodeFunctionData('mint', [holder, amount])
  await send({ from: owner, to: getChain().contracts.usdc, data })
}

/** Circle's USDC by the registry of public networks. */
const domainOf = (chain: ChainName) => createRegistry('testnet').get(chain).usdc.eip712

/** An EIP-3009 transfer of the holder, to be sent by another account. */
async function authorizeTransfer(holder: Wallet, to: string, value: bigint, signer = holder) {
  const { chainId, contracts } = getChain()
  const nonce = hexlify(randomBytes(32))
  const message = { from: holder.address, to, value, validAfter: 0, validBefore: 2n ** 40n, nonce }
  const domain = { ...domainOf(name), chainId, verifyingContract: contracts.usdc }
  const fields = ['address from', 'address to', 'uint256 value', 'uint256 validAfter']
  fields.push('uint256 validBefore', 'bytes32 nonce')
  const types = fields.map((field) => {
    const [type = '', fieldName = ''] = field.split(' ')
    return { name: fieldName, type }
  })
  const signature = await signer.signTypedData(
    domain,
    { TransferWithAuthorization: types },
    message,
  )
  const method = 'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'
  const data = token.encodeFunctionData(method, [...Object.values(message), signature])
  return { from: sponsor, to: contracts.usdc, data }
}

/** A wallet without ETH that has deposited 10 USDC into Aave. */
async function depositSponsored(): Promise<Wallet> {
  const { contracts } = getChain()
  const wallet = createWallet()
  const amount = 10n * usdc
  await mint(wallet.address, amount)
  const approve = token.encodeFunctionData('approve', [contracts.aavePool, amount])
  const supply = [contracts.usdc, amount, wallet.address, 0]
  const succeeded = await sponsorCalls(getChain(), wallet, [
    [contracts.usdc, 0n, approve],
    [contracts.aavePool, 0n, pool.encodeFunctionData('supply', supply)],
  ])
  expect(succeeded).toBe(true)
  return wallet
}

describe('USDC', () => {
  test.each([
    ['ethereum-sepolia', 'USDC'],
    ['arbitrum-sepolia', 'USD Coin'],
    ['base-sepolia', 'USDC'],
  ] as const)('has six decimals and the signing domain of %s', async (chain, domainName) => {
    expect(domainOf(chain)).toEqual({ name: domainName, version: '2' })
    const { url, chainId, contracts } = getChain(chain)
    const domain = { ...domainOf(chain), chainId, verifyingContract: contracts.usdc }
    const separator = await read(contracts.usdc, token, 'DOMAIN_SEPARATOR', [], url)
    expect(await read(contracts.usdc, token, 'decimals', [], url)).toEqual([6n])
    expect(separator).toEqual([TypedDataEncoder.hashDomain(domain)])
  })

  test('moves by an authorization once, and refuses it the second time', async () => {
    const { url, contracts } = getChain()
    const holder = createWallet()
    const to = createWallet().address
    await mint(holder.address, 3n * usdc)
    const transfer = await authorizeTransfer(holder, to, usdc)
    expect((await send(transfer)).status).toBe('0x1')
    await expect(callRpc(url, 'eth_call', [transfer, 'latest'])).rejects.toThrow('is used')
    expect(await balanceOf(to, contracts.usdc)).toBe(usdc)
  })

  test('refuses an authorization that another key signed', async () => {
    const [holder, thief] = [createWallet(), createWallet()]
    await mint(holder.address, usdc)
    const theft = await authorizeTransfer(holder, thief.address, usdc, thief)
    const refused = callRpc(getChain().url, 'eth_call', [theft, 'latest'])
    await expect(refused).rejects.toThrow('invalid signature')
  })

  test('moves by an authorization of a wallet that has delegated its code', async () => {
    const wallet = await depositSponsored()
    await mint(wallet.address, usdc)
    const receipt = await send(await authorizeTransfer(wallet, sponsor, usdc))
    expect(receipt.status).toBe('0x1')
  })
})

describe('Aave', () => {
  test.each([
    ['ethereum-sepolia', 1.52],
    ['arbitrum-sepolia', 3.51],
    ['base-sepolia', 4.12],
  ] as const)('%s pays %d percent', async (chain, percent) => {
    expect(await readApy(getChain(chain))).toBeCloseTo(percent, 2)
  })

  test('a deposit earns the displayed rate', async () => {
    const { url, contracts } = getChain('base-sepolia')
    const apy = await readApy(getChain('base-sepolia'))
    const before = await balanceOf(owner, contracts.aToken, url)
    await callRpc(url, 'evm_increaseTime', [yearSeconds / 12])
    await callRpc(url, 'evm_mine')
    const growth = Number(await balanceOf(owner, contracts.aToken, url)) / Number(before)
    expect((growth ** 12 - 1) * 100).toBeCloseTo(apy, 1)
  })

  test('accepts the deposit of a wallet without ETH', async () => {
    const { url, contracts } = getChain()
    const { address } = await depositSponsored()
    expect(await balanceOf(address, contracts.aToken)).toBeGreaterThanOrEqual(10n * usdc)
    expect(await balanceOf(address, contracts.usdc)).toBe(0n)
    expect(await callRpc(url, 'eth_getBalance', [address, 'latest'])).toBe('0x0')
  })
})

describe('deployChain', () => {
  test('puts EntryPoint and its delegate at their public addresses', async () => {
    const { url } = getChain()
    const delegate = await callRpc<string>(url, 'eth_getCode', [DELEGATE_ADDRESS, 'latest'])
    const expected = readAccountArtifact('Simple7702Account').deployedBytecode
    expect(keccak256(delegate)).toBe(keccak256(expected))
    expect(await read(DELEGATE_ADDRESS, account, 'entryPoint', [], url)).toEqual([
      ENTRY_POINT_ADDRESS,
    ])
    // The code of EntryPoint contains the chain id, so only its size is the same everywhere.
    const entryPoint = await callRpc<string>(url, 'eth_getCode', [ENTRY_POINT_ADDRESS, 'latest'])
    expect(entryPoint).toHaveLength(readAccountArtifact('EntryPoint').deployedBytecode.length)
  })

  test('puts the batch reader at its public address', async () => {
    const { url, contracts } = getChain()
    const reader = new Interface((await readOwnArtifacts()).DevMulticall.abi)
    const callData = token.encodeFunctionData('decimals')
    const calls = [
      { target: contracts.usdc, allowFailure: false, callData },
      { target: contracts.aavePool, allowFailure: true, callData },
    ]
    const [results] = await read(multicall, reader, 'aggregate3', [calls], url)
    const successes = (results as { success: boolean }[]).map(({ success }) => success)
    expect(successes).toEqual([true, false])
  })

  test('changes nothing when called again', async () => {
    const { url, contracts } = getChain()
    const before = await callRpc<string>(url, 'eth_blockNumber')
    expect(await deployChain(name, url)).toEqual(contracts)
    expect(await callRpc<string>(url, 'eth_blockNumber')).toBe(before)
  })

  test('completes an interrupted deployment', async () => {
    const { url, contracts } = getChain()
    const block = await callRpc<{ transactions: string[] }>(url, 'eth_getBlockByNumber', [
      '0x1',
      false,
    ])
    const other = await startNode(name)
    const raw = await callRpc<string>(url, 'eth_getRawTransactionByHash', [block.transactions[0]])
    await waitForMined(other.url, await callRpc(other.url, 'eth_sendRawTransaction', [raw]))
    expect(await deployChain(name, other.url)).toEqual(contracts)
    expect(await readApy({ ...getChain(), url: other.url })).toBeCloseTo(3.51, 2)
  })

  test('error: a chain with other transactions of the deployer', async () => {
    const { url } = await startNode(name)
    await send({ from: owner, to: sponsor, value: '0x1' }, url)
    await expect(deployChain(name, url)).rejects.toThrow('deployed by another version')
  })
})

describe('fundOperators', () => {
  test('needs no senders', async () => {
    const { url, contracts } = getChain()
    expect(await fundOperators(url, contracts, { senders: [] })).toEqual([])
  })

  test('gives ETH to senders and USDC to the treasury, once', async () => {
    const { url, contracts } = getChain()
    const [sender, treasury] = [createWallet().address, createWallet().address]
    const operators = { senders: [sender], treasury }
    expect(await fundOperators(url, contracts, operators)).toEqual([sender, treasury])
    expect(await fundOperators(url, contracts, operators)).toEqual([])
    expect(await balanceOf(treasury, contracts.usdc)).toBe(1_000_000n * usdc)
    expect(BigInt(await callRpc<string>(url, 'eth_getBalance', [sender, 'latest']))).toBe(
      10n ** 21n,
    )
  })
})
