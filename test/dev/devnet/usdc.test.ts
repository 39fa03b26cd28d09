import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, MaxUint256, ZeroHash } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readsDomain } from '../../../evm/tokenDomain.js'
import { startChains, type TestChains } from '../../planning/chains.js'
import { held, refusal } from './bridge.js'
import { sendFrom, users } from './send.js'

const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const [holder, friend, listed] = users
const usdc = 1_000_000n

/** The ABI as Circle publishes it, so that the stand-in must match the real names. */
const token = new Interface([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'function mint(address to, uint256 amount) returns (bool)',
  'function burn(uint256 amount)',
  'function configureMinter(address minter, uint256 minterAllowedAmount) returns (bool)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function isBlacklisted(address account) view returns (bool)',
  'function pause()',
  'function unpause()',
  `function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v,
    bytes32 r, bytes32 s)`,
  `function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter,
    uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)`,
])

let world: TestChains
let client: ChainClient
beforeAll(async () => {
  world = await startChains(['base-sepolia'])
  client = world.chains.byId(world.registry.get('base-sepolia').chainId)
  for (const account of [holder, listed]) await world.mint('base-sepolia', account, usdc)
})
afterAll(() => world?.stop())

const call = (name: string, args: unknown[] = []) => ({
  to: client.chain.usdc.address,
  data: token.encodeFunctionData(name, args),
})
const refused = (from: string, name: string, ...args: unknown[]) =>
  refusal(client, from, call(name, args))
const send = (from: string, name: string, ...args: unknown[]) =>
  sendFrom(client, from, call(name, args))
const authorization = (from: string, to: string, [after, before]: [bigint, bigint]) => {
  const signature = [27, ZeroHash, ZeroHash]
  return ['transferWithAuthorization', from, to, 1n, after, before, ZeroHash, ...signature] as const
}
const always: [bigint, bigint] = [0n, MaxUint256]

describe('USDC rejects, with the messages of FiatToken,', () => {
  test.each<[string, string, readonly [string, ...unknown[]]]>([
    ['ERC20: transfer amount exceeds balance', holder, ['transfer', friend, 2n * usdc]],
    ['ERC20: transfer amount exceeds allowance', friend, ['transferFrom', holder, friend, 1n]],
    ['FiatToken: caller is not a minter', holder, ['mint', holder, 1n]],
    ['FiatToken: caller is not a minter', holder, ['burn', 1n]],
    ['FiatToken: mint amount not greater than 0', owner, ['mint', holder, 0n]],
    ['FiatToken: caller is not the masterMinter', holder, ['configureMinter', holder, 1n]],
    ['Blacklistable: caller is not the blacklister', holder, ['blacklist', friend]],
    ['Pausable: caller is not the pauser', holder, ['pause']],
    [
      'FiatTokenV2: permit is expired',
      friend,
      ['permit', holder, friend, 1n, 1n, 27, ZeroHash, ZeroHash],
    ],
    [
      'EIP2612: invalid signature',
      friend,
      ['permit', holder, friend, 1n, MaxUint256, 27, ZeroHash, ZeroHash],
    ],
    ['FiatTokenV2: invalid signature', friend, authorization(holder, friend, always)],
    [
      'FiatTokenV2: authorization is not yet valid',
      friend,
      authorization(holder, friend, [MaxUint256 - 1n, MaxUint256]),
    ],
    ['FiatTokenV2: authorization is expired', friend, authorization(holder, friend, [0n, 1n])],
  ])('%s', async (text, from, [name, ...args]) => {
    expect(await refused(from, name, ...args)).toContain(text)
  })

  test('a blacklisted account on either side, until it is removed', async () => {
    const text = 'Blacklistable: account is blacklisted'
    await send(owner, 'blacklist', listed)
    await send(listed, 'approve', friend, usdc)
    for (const [from, name, ...args] of [
      [listed, 'transfer', friend, 1n],
      [holder, 'transfer', listed, 1n],
      [friend, 'transferFrom', listed, friend, 1n],
      [owner, 'mint', listed, 1n],
      [friend, ...authorization(listed, friend, always)],
      [friend, ...authorization(holder, listed, always)],
    ] as [string, string, ...unknown[]][]) {
      expect(await refused(from, name, ...args)).toContain(text)
    }
    expect(await held(client, listed)).toBe(usdc)
    await send(owner, 'unBlacklist', listed)
    await send(friend, 'transferFrom', listed, friend, 1n)
    expect(await held(client, listed)).toBe(usdc - 1n)
  })

  test('every transfer while it is paused', async () => {
    await send(owner, 'pause')
    for (const [from, name, ...args] of [
      [holder, 'transfer', friend, 1n],
      [holder, 'approve', friend, 1n],
      [owner, 'mint', holder, 1n],
      [friend, ...authorization(holder, friend, always)],
      [friend, 'permit', holder, friend, 1n, MaxUint256, 27, ZeroHash, ZeroHash],
    ] as [string, string, ...unknown[]][]) {
      expect(await refused(from, name, ...args)).toContain('Pausable: paused')
    }
    await send(owner, 'unpause')
    await send(holder, 'transfer', friend, 1n)
  })
})

describe('readsDomain', () => {
  test('is true under the name of the registry, false under any other name or version', async () => {
    const { usdc: token } = client.chain
    expect(await readsDomain(client, token)).toBe(true)
    for (const change of [{ name: 'USD Coin' }, { version: '1' }]) {
      const eip712 = { ...token.eip712, ...change }
      expect(await readsDomain(client, { ...token, eip712 })).toBe(false)
    }
  })

  test('error: RPC_ERROR for a contract that is no token', async () => {
    const address = client.chain.cctp.tokenMessenger
    const asked = readsDomain(client, { ...client.chain.usdc, address })
    await expect(asked).rejects.toMatchObject({ code: 'RPC_ERROR' })
  })
})
