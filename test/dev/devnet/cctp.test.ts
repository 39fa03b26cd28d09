import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  HDNodeWallet,
  Interface,
  ZeroAddress,
  concat,
  dataSlice,
  keccak256,
  zeroPadValue,
} from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readContract, readContractBlock, readReceipt } from '../../../evm/read.js'
import { DEVNET_MNEMONIC } from '../../../dev/devnet/anvil.js'
import { ATTESTER_ADDRESS, deriveAttesterKey } from '../../../dev/devnet/contracts/cctp.js'
import {
  burnCall,
  held,
  messenger,
  mintAt,
  mintCall,
  people,
  refusal,
  startBridge,
  transmitter,
  type TestBridge,
  type BurnArguments,
} from './bridge.js'
import { sendFrom } from './send.js'

const { sender, recipient, stranger } = people
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const usdc = 1_000_000n

let bridge: TestBridge
let arbitrum: ChainClient
let base: ChainClient
beforeAll(async () => {
  bridge = await startBridge()
  ;({ arbitrum, base } = bridge)
})
afterAll(() => bridge?.stop())

/** From arbitrum to base. */
const burn = (order: Partial<BurnArguments> = {}) =>
  bridge.burn({ from: arbitrum, to: base, ...order })

async function read(client: ChainClient, abi: Interface, name: string, parameters: unknown[]) {
  const { tokenMessenger, messageTransmitter } = client.chain.cctp
  const to = abi === messenger ? tokenMessenger : messageTransmitter
  const [value] = await readContract(client, { to, abi, name, args: parameters })
  return value as unknown
}

async function totalSupply(client: ChainClient): Promise<bigint> {
  const token = new Interface(['function totalSupply() view returns (uint256)'])
  const { address } = client.chain.usdc
  return (await readContract(client, { to: address, abi: token, name: 'totalSupply' }))[0] as bigint
}

describe('a transfer', () => {
  test.each([
    ['arbitrum to base', () => [arbitrum, base] as const],
    ['base to arbitrum', () => [base, arbitrum] as const],
  ])('%s: what arrives and the fee are together what was burned', async (_title, route) => {
    const [from, to] = route()
    const supplies = await Promise.all([from, to].map(totalSupply))
    const [had, fees] = await Promise.all([held(to, recipient), held(to, ATTESTER_ADDRESS)])
    const hash = await bridge.burn({ from, to, amount: 3n * usdc, maxFee: 400n })
    expect(await totalSupply(from)).toBe(supplies[0])

    const { logs } = await mintAt(to, await bridge.attested(from, hash))
    expect((await held(to, recipient)) - had).toBe(2_999_700n)
    expect((await held(to, ATTESTER_ADDRESS)) - fees).toBe(300n)
    expect(await totalSupply(to)).toBe((supplies[1] ?? 0n) + 3n * usdc)
    const minted = logs.map((log) => messenger.parseLog(log)).find((event) => event)
    expect(minted?.args.toArray()).toEqual([recipient, 2_999_700n, to.chain.usdc.address, 300n])
    const received = logs.map((log) => transmitter.parseLog(log)).find((event) => event)
    const { domain } = from.chain.cctp
    const expected = { sourceDomain: BigInt(domain), finalityThresholdExecuted: 1_000n }
    expect(received?.args.toObject()).toMatchObject({ caller: stranger, ...expected })
  })

  test('begins with an event that contains all parameters', async () => {
    const receipt = await readReceipt(arbitrum, await burn())
    const event = receipt?.logs.map((log) => messenger.parseLog(log)).find((one) => one)
    expect(event?.args.toObject()).toMatchObject({
      ...{ burnToken: arbitrum.chain.usdc.address, amount: usdc, depositor: sender },
      ...{ mintRecipient: zeroPadValue(recipient, 32).toLowerCase(), destinationDomain: 6n },
      ...{ maxFee: 200n, minFinalityThreshold: 1_000n, hookData: '0x' },
    })
  })

  test('cannot be minted twice', async () => {
    const message = await bridge.attested(arbitrum, await burn())
    const used = () => read(base, transmitter, 'usedNonces', [message.eventNonce])
    expect(await used()).toBe(0n)
    await mintAt(base, message)
    expect(await used()).toBe(1n)
    expect(await refusal(base, stranger, mintCall(base, message))).toContain('Nonce already used')
  })
})

describe('receiveMessage refuses', () => {
  test('other signatures, and another message with the same signatures', async () => {
    const { message, attestation } = await bridge.attested(arbitrum, await burn())
    const [first, second] = [dataSlice(attestation, 0, 65), dataSlice(attestation, 65)]
    const thief = HDNodeWallet.fromPhrase(DEVNET_MNEMONIC).signingKey
    const forged = thief.sign(keccak256(message)).serialized
    for (const [signatures, reason] of [
      [[forged, second], 'Invalid signature'],
      [[first, forged], 'Invalid signature'],
      [[first], 'Invalid attestation length'],
      [[first, second, second], 'Invalid attestation length'],
      [[second, first], 'Invalid signature order or dupe'],
      [[first, first], 'Invalid signature order or dupe'],
      [[first, dataSlice(second, 0, 64), '0x00'], 'ECDSA: invalid signature'],
    ] as const) {
      const call = mintCall(base, { message, attestation: concat(signatures) })
      expect(await refusal(base, stranger, call)).toContain(reason)
    }
    const changed = message.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    const call = mintCall(base, { message: changed, attestation })
    expect(await refusal(base, stranger, call)).toContain('Invalid signature')
  })

  test('the message of the burn, which has no nonce, even with signatures', async () => {
    const { message } = await bridge.attested(arbitrum, await burn())
    const [nonceStart, nonceEnd] = [2 + 12 * 2, 2 + 44 * 2]
    const bare = message.slice(0, nonceStart) + '0'.repeat(64) + message.slice(nonceEnd)
    const attestation = deriveAttesterKey().attest(bare)
    const call = mintCall(base, { message: bare, attestation })
    expect(await refusal(base, stranger, call)).toContain('Nonce already used')
  })

  test('another chain, and any other caller than the burn names', async () => {
    const message = await bridge.attested(arbitrum, await burn({ caller: recipient }))
    expect(await refusal(arbitrum, recipient, mintCall(arbitrum, message))).toContain('domain')
    expect(await refusal(base, stranger, mintCall(base, message))).toContain('Invalid caller')
    await mintAt(base, message, recipient)
  })
})

describe('depositForBurn refuses', () => {
  /** A chain that is unknown to the messenger. */
  const nowhere = (): ChainClient => {
    const { chain, ...client } = base
    return { ...client, chain: { ...chain, cctp: { ...chain.cctp, domain: 99 } } }
  }
  test.each<[string, () => Partial<BurnArguments>, string]>([
    ['no money', () => ({ amount: 0n, maxFee: 0n }), 'Amount must be nonzero'],
    ['no recipient', () => ({ recipient: ZeroAddress }), 'Mint recipient must be nonzero'],
    ['a fee of all', () => ({ maxFee: usdc }), 'Max fee must be less than amount'],
    ['an unknown domain', () => ({ to: nowhere() }), 'No TokenMessenger for domain'],
    ['more than the wallet has allowed', () => ({ amount: 10n ** 18n }), 'exceeds allowance'],
  ])('%s', async (_title, order, reason) => {
    const call = burnCall({ from: arbitrum, to: base, ...order() })
    expect(await refusal(arbitrum, sender, call)).toContain(reason)
  })

  test('a fee limit below the minimum fee of the chain', async () => {
    const leastFee = (amount: bigint) => read(arbitrum, messenger, 'getMinFeeAmount', [amount])
    const setMinFee = (thousandthsOfBps: number) => {
      const data = messenger.encodeFunctionData('setMinFee', [thousandthsOfBps])
      return sendFrom(arbitrum, owner, { to: arbitrum.chain.cctp.tokenMessenger, data })
    }
    expect(await leastFee(usdc)).toBe(0n)
    await setMinFee(1_000)
    expect([await leastFee(usdc), await leastFee(2n)]).toEqual([100n, 1n])
    const call = burnCall({ from: arbitrum, to: base, maxFee: 99n })
    expect(await refusal(arbitrum, sender, call)).toContain('Insufficient max fee')
    await setMinFee(0)
  })
})

describe('Circle may', () => {
  const circle = new Interface([
    'function setMaxBurnAmountPerMessage(address localToken, uint256 burnLimitPerMessage)',
    'function burnLimitsPerMessage(address token) view returns (uint256)',
    'function localMinter() view returns (address)',
    'function denylist(address account)',
    'function unDenylist(address account)',
    'function pause()',
    'function unpause()',
  ])
  const order = (name: string, args: unknown[] = []) => circle.encodeFunctionData(name, args)
  const atMessenger = (name: string, ...args: unknown[]) =>
    sendFrom(arbitrum, owner, { to: arbitrum.chain.cctp.tokenMessenger, data: order(name, args) })
  const burnRefusal = (amount = usdc) =>
    refusal(arbitrum, sender, burnCall({ from: arbitrum, to: base, amount }))

  beforeEach(async () => {
    const { usdc: asset, cctp } = arbitrum.chain
    const give = (abi: string, args: unknown[]) => ({
      to: asset.address,
      data: new Interface([`function ${abi}`]).encodeFunctionData(abi, args),
    })
    const much = 10n ** 14n
    await sendFrom(arbitrum, owner, give('mint(address,uint256)', [sender, much]))
    const approval = give('approve(address,uint256)', [cctp.tokenMessenger, much])
    await sendFrom(arbitrum, sender, approval)
  })

  test('limit a burn: ten million USDC by default', async () => {
    const asset = arbitrum.chain.usdc.address
    const [minter] = await readContract(arbitrum, {
      ...{ to: arbitrum.chain.cctp.tokenMessenger, abi: circle, name: 'localMinter' },
    })
    const limit = { to: minter as string, abi: circle, name: 'burnLimitsPerMessage', args: [asset] }
    expect(await readContract(arbitrum, limit)).toEqual([10_000_000n * usdc])
    expect(await burnRefusal(10_000_000n * usdc)).toBe('It was taken.')
    const tooMuch = 10_000_000n * usdc + 1n
    expect(await burnRefusal(tooMuch)).toContain('Burn amount exceeds per tx limit')
    await atMessenger('setMaxBurnAmountPerMessage', asset, usdc - 1n)
    expect(await burnRefusal()).toContain('Burn amount exceeds per tx limit')
    await atMessenger('setMaxBurnAmountPerMessage', asset, 0n)
    expect(await burnRefusal()).toContain('Burn token not supported')
    await atMessenger('setMaxBurnAmountPerMessage', asset, 10_000_000n * usdc)
  })

  test('put an account on the denylist', async () => {
    await atMessenger('denylist', sender)
    expect(await burnRefusal()).toContain('Denylistable: account is on denylist')
    await atMessenger('unDenylist', sender)
    expect(await burnRefusal()).toBe('It was taken.')
  })

  test('pause its messages, in and out', async () => {
    const hash = (await sendFrom(arbitrum, sender, burnCall({ from: arbitrum, to: base })))
      .transactionHash
    const message = await bridge.attested(arbitrum, hash)
    const at = (client: ChainClient, name: string) =>
      sendFrom(client, owner, { to: client.chain.cctp.messageTransmitter, data: order(name) })
    for (const client of [arbitrum, base]) await at(client, 'pause')
    expect(await burnRefusal()).toContain('Pausable: paused')
    expect(await refusal(base, stranger, mintCall(base, message))).toContain('Pausable: paused')
    for (const client of [arbitrum, base]) await at(client, 'unpause')
    await mintAt(base, message)
  })

  test('and no other account', async () => {
    const { tokenMessenger: to, messageTransmitter } = arbitrum.chain.cctp
    for (const [call, reason] of [
      [{ to, data: order('denylist', [sender]) }, 'Denylistable: caller is not denylister'],
      [
        { to, data: order('setMaxBurnAmountPerMessage', [ZeroAddress, 1n]) },
        'Caller is not tokenController',
      ],
      [{ to: messageTransmitter, data: order('pause') }, 'Pausable: caller is not the pauser'],
    ] as const) {
      expect(await refusal(arbitrum, stranger, call)).toContain(reason)
    }
  })
})

describe('the number of the block', () => {
  const heightOf = async ({ send }: ChainClient) =>
    BigInt(await send<string>('eth_blockNumber', []))

  test("is the chain's own for contracts of base", async () => {
    expect(await readContractBlock(base)).toBe(await heightOf(base))
  })

  test('that contracts of arbitrum see is smaller than its height, and grows more slowly', async () => {
    await bridge.mine(arbitrum, 96)
    const [seen, height] = await Promise.all([readContractBlock(arbitrum), heightOf(arbitrum)])
    expect(seen).toBeLessThan(height)
    await bridge.mine(arbitrum, 48)
    expect(await readContractBlock(arbitrum)).toBe(seen + 1n)
    expect(await readContractBlock(arbitrum, { blockNumber: height })).toBe(seen)
  })
})

test.each([
  ['arbitrum', () => [arbitrum, base] as const],
  ['base', () => [base, arbitrum] as const],
])('%s knows its peer', async (_title, pair) => {
  const [here, there] = pair()
  const peer = await read(here, messenger, 'remoteTokenMessengers', [there.chain.cctp.domain])
  expect(peer).toBe(zeroPadValue(there.chain.cctp.tokenMessenger, 32).toLowerCase())
})
