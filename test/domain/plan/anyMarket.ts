import fc from 'fast-check'
import type {
  BridgeRequest,
  IntentRequest,
  LendRequest,
  WithdrawRequest,
} from '../../../domain/intent/intent.js'
import type { MarketState } from '../../../domain/plan/market.js'

const names = ['ethereum', 'arbitrum', 'base', 'other']
const chain = fc.constantFrom(...names)
const protocol = fc.constantFrom('aave-v3', 'compound-v3')
const asset = fc.constantFrom('USDC', 'USDC', 'USDC', 'DAI')

/** Amounts up to 20 tokens: dust, where rounding decides, as often as larger ones. */
const someUnits = fc.oneof(
  fc.bigInt({ min: 1n, max: 30n }),
  fc.bigInt({ min: 1n, max: 20_000_000n }),
)
const holding = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0n) },
  { weight: 1, arbitrary: someUnits },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 40_000_000n }) },
)
const plenty = fc.constant(10n ** 12n)
/** USD of at most six decimals. Zero and equal values are likely, so that costs tie. */
const gas = fc.oneof(
  fc.constantFrom(0, 0.01),
  fc.integer({ max: 2_000_000, min: 0 }).map((microUsd) => microUsd / 1e6),
)
const seconds = fc
  .tuple(fc.nat(1_200), fc.nat(1_200))
  .map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)])

const chainStates = fc.subarray(names, { minLength: 3 }).chain((chosen) =>
  fc.tuple(
    ...chosen.map((name) =>
      fc.record({
        chain: fc.constant(name),
        availableUnits: holding,
        gasUsd: fc.record({ deposit: gas, withdraw: gas, swap: gas, burn: gas, mint: gas }),
        stepSeconds: seconds,
      }),
    ),
  ),
)
/** At most four decimals, often equal, so that costs decide. */
const apy = fc.oneof(
  fc.constantFrom(0, 3.5),
  fc.nat(90_000).map((tenThousandths) => tenThousandths / 1e4),
)
/** Mostly unbounded. */
const room = fc.option(fc.oneof(fc.constant(0n), someUnits), { freq: 1 })
const rate = fc
  .record({ chain, protocol, asset, apyPercent: apy, room })
  .map(({ room: capacityUnits, ...one }) => ({
    ...{ ...one, market: `0x${one.protocol}-${one.asset}` },
    ...(capacityUnits === null ? {} : { capacityUnits }),
  }))
const route = fc
  .record({
    ...{ protocol: fc.constantFrom('cctp', 'other'), from: chain, to: chain, seconds },
    speed: fc.constantFrom('fast' as const, 'standard' as const),
    feeMillionths: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0n) },
      { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 2_000n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: 1_900n, max: 2_100n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 1_200_000n }) },
    ),
    maxUnits: fc.oneof(plenty, plenty, someUnits),
  })
  .filter(({ from, to }) => from !== to)
/** Prices around one, sometimes exactly one, some between a half and two, and sometimes an empty pool. */
const price: fc.Arbitrary<[unitsIn: number, unitsOut: number]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constant(1_000), fc.integer({ min: 980, max: 1_020 })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 500, max: 1_000 }), fc.integer({ min: 500, max: 1_000 })),
  },
  { weight: 1, arbitrary: fc.constantFrom<[number, number][]>([1, 1], [0, 7], [7, 0]) },
)
const quote = fc
  .record({
    ...{ chain, price, protocol: fc.constantFrom('uniswap-v3', 'curve') },
    from: fc.constantFrom('USDC', 'DAI'),
  })
  .map(({ price: [unitsIn, unitsOut], ...one }) => ({
    ...{ ...one, to: one.from === 'USDC' ? 'DAI' : 'USDC' },
    ...{ unitsIn: BigInt(unitsIn), unitsOut: BigInt(unitsOut) },
  }))
const position = fc
  .record({
    ...{ chain, protocol, asset, availableUnits: holding },
    liquidityUnits: fc.oneof(plenty, plenty, plenty, holding),
    isBusy: fc.nat(9).map((one) => one === 0),
  })
  .map((one) => ({ ...one, market: `0x${one.protocol}-${one.asset}` }))

/** Any market of up to four chains, linked or not, with two protocols and two assets. */
const anyMarket: fc.Arbitrary<MarketState> = fc.record({
  chains: chainStates,
  rates: fc.array(rate, { minLength: 2, maxLength: 8 }),
  routes: fc.array(route, { minLength: 4, maxLength: 16 }),
  swaps: fc.array(quote, { maxLength: 6 }),
  positions: fc.uniqueArray(position, {
    ...{ minLength: 2, maxLength: 8 },
    selector: (one) => `${one.chain} ${one.market}`,
  }),
})

/** A request and the market that it is planned for. */
export type Case<Request = IntentRequest> = { request: Request; state: MarketState }

export const anyLend: fc.Arbitrary<Case<LendRequest>> = fc
  .record({ state: anyMarket, amountUnits: someUnits, named: fc.option(chain, { freq: 1 }) })
  .map(({ state, amountUnits, named }) => {
    const request: LendRequest = { action: 'lend', asset: 'USDC', amountUnits }
    return { state, request: named === null ? request : { ...request, chain: named } }
  })

export const anyNetLend: fc.Arbitrary<Case<LendRequest & { netOverDays: number }>> = fc
  .tuple(anyLend, fc.nat(2_000))
  .map(([{ state, request }, netOverDays]) => ({ state, request: { ...request, netOverDays } }))

/** Mostly over a pair of chains with a route, often the whole balance, or a base unit more. */
export const anyBridge: fc.Arbitrary<Case<BridgeRequest>> = fc
  .record({ state: anyMarket, amountUnits: someUnits, pick: fc.nat(15), other: route })
  .map(({ state, amountUnits, pick, other }) => {
    const { from: fromChain, to: toChain } = state.routes[pick] ?? other
    const held = state.chains.find((one) => one.chain === fromChain)?.availableUnits ?? 0n
    const some = pick % 3 === 0 || held === 0n ? amountUnits : held + (pick % 8 === 1 ? 1n : 0n)
    const request = { action: 'bridge' as const, asset: 'USDC', amountUnits: some }
    return { state, request: { ...request, fromChain, toChain } }
  })

/** An amount, everything, or about the total of the markets of the asset itself. */
export const anyWithdraw: fc.Arbitrary<Case<WithdrawRequest>> = fc
  .record({ state: anyMarket, amount: someUnits, named: chain, pick: fc.nat(99), off: fc.nat(24) })
  .map(({ state, amount, named, pick, off }) => {
    const { chain: where } = state.positions[pick % 8] ?? { chain: named }
    const lent = state.positions
      .filter((one) => one.chain === where && one.asset === 'USDC')
      .reduce((sum, { availableUnits }) => sum + availableUnits, 0n)
    const near = lent - 12n + BigInt(off)
    const some = pick % 2 === 0 && near > 0n ? near : amount
    const amountUnits = pick % 5 === 0 ? 'max' : some
    return { state, request: { action: 'withdraw', asset: 'USDC', chain: where, amountUnits } }
  })
