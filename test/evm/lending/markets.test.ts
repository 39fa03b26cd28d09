import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readBalance, readContract } from '../../../evm/read.js'
import { type ChainName, type Market } from '../../../evm/registry.js'
import { devnetTerms } from '../../../dev/devnet/chains.js'
import { apyPercent } from '../../../evm/lending/apy.js'
import { lendingProtocol } from '../../../evm/lending/markets.js'
import { explainRevert } from '../../../evm/calls/reverts.js'
import { refusal } from '../../dev/devnet/bridge.js'
import { passTime, refusalOf, sendAll, sendFrom, users } from '../../dev/devnet/send.js'
import { startChains, type TestChains } from '../../planning/chains.js'

const [wallet, stranger] = users
/** The account that deployed everything; it lends and borrows. */
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const dollar = 1_000_000n
const units = 10_000n * dollar
const monthSeconds = 30 * 86_400
const yearSeconds = 365 * 86_400

const token = new Interface(['function mint(address to, uint256 units)'])
const comet = new Interface([
  'function pause(bool supply, bool transfer, bool withdraw, bool absorb, bool buy)',
  'function borrowForAll(uint256 amount)',
  'function getUtilization() view returns (uint256)',
  'function getSupplyRate(uint256 utilization) view returns (uint64)',
])

/** Like the public testnets, Aave on ethereum-sepolia lists a token of its own. base-sepolia pays the highest rate. */
const terms = {
  ...devnetTerms,
  'ethereum-sepolia': { ...devnetTerms['ethereum-sepolia'], aaveAsset: 'testDollar' as const },
  'base-sepolia': { ...devnetTerms['base-sepolia'], slope1: 7 },
}

let world: TestChains
beforeAll(async () => {
  world = await startChains(undefined, terms)
})
afterAll(() => world?.stop())

const clientOf = (chain: ChainName) => world.chains.byId(world.registry.get(chain).chainId)

function find(chain: ChainName, protocol: Market['protocol']) {
  const client = clientOf(chain)
  const market = client.chain.markets.find((one) => one.protocol === protocol)
  if (!market) throw new Error(`There is no ${protocol} on ${chain}.`)
  return { client, market, protocol: lendingProtocol(market), url: world.urls[chain] }
}

/** Funds the wallet with the market's token and lends it. */
async function deposit({ client, market, protocol }: ReturnType<typeof find>, by: string = wallet) {
  const data = token.encodeFunctionData('mint', [by, units])
  await sendFrom(client, owner, { to: market.underlying, data })
  return sendAll(client, by, protocol.encodeDeposit(market, by, units))
}

const held = (client: ChainClient, contract: string, by: string = wallet) =>
  readBalance(client, { token: contract, owner: by })

describe.each([
  ['ethereum-sepolia', 'aave-v3'],
  ['ethereum-sepolia', 'compound-v3'],
  ['arbitrum-sepolia', 'aave-v3'],
  ['base-sepolia', 'aave-v3'],
  ['base-sepolia', 'erc4626'],
] as const)('%s %s', (chain, name) => {
  const readPosition = () => {
    const { client, market, protocol } = find(chain, name)
    return protocol.readPosition(client, market, { wallet, block: 'latest' })
  }

  test('accepts exactly the deposited amount', async () => {
    const place = find(chain, name)
    const { client, market, protocol } = place
    const had = await held(client, market.underlying)
    const logs = await deposit(place)
    expect(protocol.depositedUnits(market, wallet, logs)).toBe(units)
    expect(protocol.depositedUnits(market, stranger, logs)).toBe(0n)
    expect(await held(client, market.underlying)).toBe(had)
    // Rounded down, by a unit at most.
    expect(units - (await readPosition())).toBeLessThanOrEqual(1n)
  })

  test('pays the reported rate', async () => {
    const { client, market, protocol, url } = find(chain, name)
    const apy = await protocol.readApy(client, market)
    const before = await readPosition()
    await passTime(url, monthSeconds)
    const grown = Number((await readPosition()) - before) / Number(before)
    const promised = (1 + apy / 100) ** (monthSeconds / yearSeconds) - 1
    expect(grown / promised).toBeCloseTo(1, 2)
  })

  test('returns exactly the requested amount', async () => {
    const { client, market, protocol } = find(chain, name)
    const part = 1_234_567_891n
    const had = await held(client, market.underlying)
    const logs = await sendAll(
      client,
      wallet,
      protocol.encodeWithdraw(market, wallet, { units: part }),
    )
    expect(protocol.withdrawnUnits(market, wallet, logs)).toBe(part)
    expect(protocol.withdrawnUnits(market, stranger, logs)).toBe(0n)
    expect((await held(client, market.underlying)) - had).toBe(part)
  })

  test('returns everything to the last unit', async () => {
    const { client, market, protocol } = find(chain, name)
    const had = await held(client, market.underlying)
    const receiptUnits = await held(client, market.receiptToken)
    const calls = protocol.encodeWithdraw(market, wallet, { receiptUnits })
    const logs = await sendAll(client, wallet, calls)
    const got = (await held(client, market.underlying)) - had
    expect(protocol.withdrawnUnits(market, wallet, logs)).toBe(got)
    expect(got).toBeGreaterThan(units - 1_234_567_891n)
    expect([await readPosition(), await held(client, market.receiptToken)]).toEqual([0n, 0n])
  })

  test('returns nothing to a wallet without a position', async () => {
    const { client, market, protocol } = find(chain, name)
    const [call] = protocol.encodeWithdraw(market, stranger, { units: 1n })
    expect(await refusal(client, stranger, { ...call })).toContain('revert')
  })
})

describe('readCapacity', () => {
  const configurator = new Interface([
    'function setSupplyCap(address asset, uint256 newSupplyCap)',
    'function setReserveFreeze(address asset, bool freeze)',
    'function setReservePause(address asset, bool paused)',
  ])
  const addresses = new Interface([
    'function ADDRESSES_PROVIDER() view returns (address)',
    'function getPoolConfigurator() view returns (address)',
  ])
  const pool = () => find('base-sepolia', 'aave-v3')
  const vault = () => find('base-sepolia', 'erc4626')
  const capacityOf = ({ client, market, protocol }: ReturnType<typeof find>) =>
    protocol.readCapacity(client, market)

  async function configure(method: string, value: bigint | boolean): Promise<void> {
    const { client, market } = pool()
    const name = 'ADDRESSES_PROVIDER'
    const [provider] = await readContract(client, { to: market.address, abi: addresses, name })
    const at = provider as string
    const [to] = await readContract(client, { to: at, abi: addresses, name: 'getPoolConfigurator' })
    const data = configurator.encodeFunctionData(method, [market.underlying, value])
    await sendFrom(client, owner, { to: to as string, data })
  }

  test('aave-v3: the capacity below the cap, which a deposit can fill', async () => {
    const { client, market, protocol } = pool()
    expect(await capacityOf(pool())).toBeGreaterThan(2n ** 128n)
    const cap = 10_000_000n
    await configure('setSupplyCap', cap)
    const more = (await capacityOf(pool())) / dollar
    await configure('setSupplyCap', cap - more + 50n)
    const capacity = await capacityOf(pool())
    expect(capacity).toBeGreaterThan(49n * dollar)
    expect(capacity).toBeLessThanOrEqual(51n * dollar)
    expect(await capacityOf(vault())).toBeLessThanOrEqual(capacity)
    const data = token.encodeFunctionData('mint', [wallet, 100n * dollar])
    await sendFrom(client, owner, { to: market.underlying, data })
    // Interest accrues until it is mined, and aToken balances are rounded by a unit.
    await sendAll(client, wallet, protocol.encodeDeposit(market, wallet, capacity - dollar))
    expect(await capacityOf(pool())).toBeLessThanOrEqual(dollar + 2n)
    const [, tooMuch] = protocol.encodeDeposit(market, wallet, 2n * dollar)
    expect(await refusal(client, wallet, { ...tooMuch })).toContain('revert')
    await configure('setSupplyCap', 1n)
    expect(await capacityOf(pool())).toBe(0n)
    await configure('setSupplyCap', 0n)
  })

  test.each(['setReserveFreeze', 'setReservePause'])(
    'aave-v3: 0 after %s, also in a vault over it',
    async (method) => {
      await configure(method, true)
      expect([await capacityOf(pool()), await capacityOf(vault())]).toEqual([0n, 0n])
      await configure(method, false)
      expect(await capacityOf(pool())).toBeGreaterThan(0n)
    },
  )

  test('compound-v3: 0 while supplying is paused', async () => {
    const place = find('ethereum-sepolia', 'compound-v3')
    const pause = (isPaused: boolean) => {
      const data = comet.encodeFunctionData('pause', [isPaused, false, false, false, false])
      return sendFrom(place.client, owner, { to: place.market.address, data })
    }
    expect(await capacityOf(place)).toBeGreaterThan(2n ** 128n)
    await pause(true)
    expect(await capacityOf(place)).toBe(0n)
    await pause(false)
  })
})

describe('readLiquidity', () => {
  const at = (holder: string) => ({ wallet: holder, block: 'latest' }) as const

  test("aave-v3: the unborrowed amount, less than a lender's position", async () => {
    const { client, market, protocol } = find('base-sepolia', 'aave-v3')
    const cash = await held(client, market.underlying, market.receiptToken)
    expect(await protocol.readLiquidity(client, market, at(owner))).toBe(cash)
    const position = await protocol.readPosition(client, market, { wallet: owner, block: 'latest' })
    expect(position).toBeGreaterThan(cash)
  })

  test('erc4626: the amount that the vault can withdraw for the wallet', async () => {
    const { client, market, protocol } = find('base-sepolia', 'erc4626')
    const position = await protocol.readPosition(client, market, { wallet: owner, block: 'latest' })
    expect(position).toBeGreaterThanOrEqual(100_000n * dollar)
    expect(await protocol.readLiquidity(client, market, at(owner))).toBe(position)
    expect(await protocol.readLiquidity(client, market, at(stranger))).toBe(0n)
  })

  test('compound-v3: the cash, and 0 while it is paused', async () => {
    const { client, market, protocol } = find('ethereum-sepolia', 'compound-v3')
    const cash = await held(client, market.underlying, market.address)
    expect(await protocol.readLiquidity(client, market, at(owner))).toBe(cash)
    const pause = (isPaused: boolean) => {
      const data = comet.encodeFunctionData('pause', [isPaused, false, isPaused, false, false])
      return sendFrom(client, owner, { to: market.address, data })
    }
    await pause(true)
    expect(await protocol.readLiquidity(client, market, at(owner))).toBe(0n)
    const [call] = protocol.encodeWithdraw(market, owner, { units: 1n })
    expect(await refusal(client, owner, { ...call })).toContain('revert')
    await pause(false)
  })
})

describe('compound-v3', () => {
  test('error: a withdrawal above the position, which would be a small or large loan', async () => {
    const place = find('ethereum-sepolia', 'compound-v3')
    await deposit(place)
    const { client, market, protocol } = place
    const position = await protocol.readPosition(client, market, { wallet, block: 'latest' })
    for (const [tooMuch, error] of [
      [dollar, 'BorrowTooSmall()'],
      [1_000n * dollar, 'NotCollateralized()'],
    ] as const) {
      const [call] = protocol.encodeWithdraw(market, wallet, { units: position + tooMuch })
      if (!call) throw new Error('A withdrawal is one call.')
      expect(explainRevert(await refusalOf(client, wallet, call))).toContain(error)
    }
  })

  test.each([
    ['below', 0n],
    ['above', 300_000n],
  ])("the computed rate equals the market's own, %s its kink", async (side, dollars) => {
    const { client, market, protocol } = find('ethereum-sepolia', 'compound-v3')
    const { address: to } = market
    const data = comet.encodeFunctionData('borrowForAll', [dollars * dollar])
    await sendFrom(client, owner, { to, data })
    const utilization = await readContract(client, { to, abi: comet, name: 'getUtilization' })
    expect((utilization[0] as bigint) > 8n * 10n ** 17n).toBe(side === 'above')
    const call = { to, abi: comet, name: 'getSupplyRate', args: [...utilization] }
    const [rate] = await readContract(client, call)
    const reportedApy = apyPercent(Number(rate as bigint) / 1e18)
    expect((await protocol.readApy(client, market)) / reportedApy).toBeCloseTo(1, 4)
  })
})

describe('erc4626', () => {
  test('ignores deposits of other accounts for the wallet', async () => {
    const { client, market, protocol } = find('base-sepolia', 'erc4626')
    await world.mint('base-sepolia', stranger, units)
    const [approve, call] = protocol.encodeDeposit(market, wallet, units)
    if (!approve || !call) throw new Error('A deposit has two calls.')
    const logs = await sendAll(client, stranger, [approve, call])
    expect(protocol.depositedUnits(market, wallet, logs)).toBe(0n)
  })

  test('pays nine tenths of the rate of Aave', async () => {
    const [vault, aave] = (['erc4626', 'aave-v3'] as const).map((name) =>
      find('base-sepolia', name),
    )
    if (!vault || !aave) throw new Error('A market is missing.')
    const [vaultApy, aaveApy] = await Promise.all(
      [vault, aave].map(({ client, market, protocol }) => protocol.readApy(client, market)),
    )
    expect((vaultApy ?? 0) / (aaveApy ?? 0)).toBeCloseTo(0.9, 2)
  })
})

test("the devnet's terms decide which chain pays best", async () => {
  const [base, arbitrum] = await Promise.all(
    (['base-sepolia', 'arbitrum-sepolia'] as const).map((chain) => {
      const { client, market, protocol } = find(chain, 'aave-v3')
      return protocol.readApy(client, market)
    }),
  )
  expect(base).toBeGreaterThan(4)
  expect(arbitrum).toBeLessThan(3.6)
})
