import type { CreateIntentParams } from '@steward/sdk'
import type { ChainName } from '../../evm/registry.js'

type WithoutWallet<Params> = Params extends unknown ? Omit<Params, 'walletId'> : never
type NewIntent = WithoutWallet<CreateIntentParams>
type Choices = { chain?: ChainName; optimize?: 'net'; metadata?: Record<string, string> }

/** The actions of one user run one after the other, and users act at the same time. */
export type UserAction = { user: string } & (
  | { receives: string; on: ChainName }
  | { creates: NewIntent }
  /** Creates an intent over a bridge and cancels it. */
  | { cancels: NewIntent }
  /** Retries the last failed intent. */
  | { retries: true }
  /** Creates an intent over a bridge, which waits because the wallet is frozen. */
  | { waits: NewIntent }
)

export type ScenarioDay = { daysAgo: number; actions: UserAction[] }

const [ethereum, arbitrum, base] = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const

const receives = (user: string, amount: string, on: ChainName): UserAction => ({
  user,
  receives: amount,
  on,
})

const lends = (user: string, amount: string, more: Choices = {}): UserAction => ({
  user,
  creates: { ...more, action: 'lend', amount },
})

const withdraws = (
  user: string,
  amount: string,
  chain: ChainName,
  more: Choices = {},
): UserAction => ({
  user,
  creates: { ...more, action: 'withdraw', amount, chain },
})

const bridges = (
  user: string,
  amount: string,
  [fromChain, toChain]: [ChainName, ChainName],
  more: Choices = {},
): UserAction => ({
  user,
  creates: { ...more, action: 'bridge', amount, fromChain, toChain },
})

const fails = (simulate: string) => ({ metadata: { simulate } })

/** The sample account's month: each action, and each end that an intent can have. The oldest day comes first. */
export const scenario: ScenarioDay[] = [
  {
    daysAgo: 30,
    actions: [
      receives('alice', '900', arbitrum),
      lends('alice', '250'),
      receives('bruno', '420', arbitrum),
      lends('bruno', '120', { chain: arbitrum }),
      receives('chiara', '600', base),
      lends('chiara', '300'),
    ],
  },
  {
    daysAgo: 27,
    actions: [
      lends('alice', '150', { optimize: 'net' }),
      receives('daniel', '310', arbitrum),
      lends('daniel', '80', { chain: arbitrum, ...fails('DEPOSIT_FAILED') }),
      lends('bruno', '60', { chain: arbitrum }),
    ],
  },
  {
    daysAgo: 23,
    actions: [
      { user: 'daniel', retries: true },
      receives('emma', '500', ethereum),
      lends('emma', '200', { chain: ethereum }),
      withdraws('chiara', '75', base),
    ],
  },
  {
    daysAgo: 20,
    actions: [
      bridges('emma', '90', [ethereum, base], fails('BRIDGE_FAILED')),
      lends('alice', '100'),
      lends('bruno', '40', { chain: arbitrum, ...fails('INSUFFICIENT_FUNDS') }),
      receives('farid', '150', base),
      lends('farid', '110'),
    ],
  },
  {
    daysAgo: 16,
    actions: [
      lends('chiara', '120', { chain: base }),
      withdraws('alice', '60', base, fails('WITHDRAW_FAILED')),
      withdraws('bruno', '30', arbitrum),
      { user: 'daniel', cancels: { action: 'lend', amount: '45' } },
    ],
  },
  {
    daysAgo: 13,
    actions: [
      lends('daniel', '70', { chain: arbitrum }),
      bridges('emma', '50', [ethereum, arbitrum]),
      lends('farid', '25', fails('NETWORK_ERROR')),
      withdraws('alice', '45', base),
    ],
  },
  {
    daysAgo: 10,
    actions: [
      bridges('alice', '35', [arbitrum, base], fails('BRIDGE_TIMEOUT')),
      receives('chiara', '80', arbitrum),
      lends('chiara', '80'),
      lends('bruno', '55'),
    ],
  },
  {
    daysAgo: 7,
    actions: [
      withdraws('chiara', 'max', base),
      lends('emma', '60', { chain: ethereum, ...fails('SWAP_FAILED') }),
      lends('alice', '80'),
      withdraws('daniel', '20', arbitrum),
    ],
  },
  {
    daysAgo: 4,
    actions: [
      { user: 'emma', retries: true },
      lends('daniel', '65'),
      lends('bruno', '35', { optimize: 'net' }),
      lends('chiara', '150'),
    ],
  },
  {
    daysAgo: 2,
    actions: [
      withdraws('alice', '110', base),
      lends('emma', '40', { chain: ethereum }),
      lends('farid', '30', { chain: base, ...fails('DEPOSIT_FAILED') }),
    ],
  },
  {
    daysAgo: 1,
    actions: [
      lends('alice', '90'),
      bridges('bruno', '25', [arbitrum, base]),
      lends('chiara', '60'),
      { user: 'daniel', cancels: { action: 'lend', amount: '60' } },
    ],
  },
  {
    daysAgo: 0,
    actions: [
      lends('bruno', '20'),
      withdraws('emma', '50', ethereum),
      receives('farid', '200', arbitrum),
      { user: 'farid', waits: { action: 'lend', amount: '120' } },
    ],
  },
]
