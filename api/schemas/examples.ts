/** Requests and answers of the published document, taken from a running service. */

const WALLET_ID = 'svc_wallet_01m7y67meyf8887pvj8zyn62fz'

export const createWalletRequest = { userId: 'alice', metadata: { tier: 'gold' } }

export const walletAnswer = {
  id: WALLET_ID,
  ...createWalletRequest,
  address: '0x69ea9668481236855282F21d38F1d078064EF099',
  chainType: 'ethereum',
  chains: ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'],
  createdAt: '2026-11-21T04:36:02.789Z',
}

export const fundRequest = { walletId: WALLET_ID }

export const fundingAnswer = {
  id: 'fund_01m7y67mmweazs7w67b97ns8t6',
  walletId: WALLET_ID,
  status: 'pending',
  chain: 'arbitrum-sepolia',
  asset: 'USDC',
  amount: 1,
  createdAt: '2026-11-21T04:36:02.845Z',
}

export const lendRequest = { walletId: WALLET_ID, action: 'lend', amount: 1 }
export const withdrawRequest = {
  walletId: WALLET_ID,
  action: 'withdraw',
  amount: 'max',
  chain: 'base',
}
export const bridgeRequest = {
  walletId: WALLET_ID,
  action: 'bridge',
  amount: 1,
  fromChain: 'arbitrum-sepolia',
  toChain: 'base-sepolia',
}

const executionPlan = {
  strategy: 'single-bridge',
  targetChain: 'base-sepolia',
  targetProtocol: 'aave-v3',
  expectedApy: 4.1178,
  estimatedGasUsd: 0.017896,
  estimatedTime: '3-18 seconds',
  reasoning:
    'aave-v3 on base-sepolia pays 4.12 % on USDC, the best rate of 5 that can be reached. The money comes from arbitrum-sepolia for a bridge fee of 0.0001 USDC and 0.012593 USD of gas. Compared with aave-v3 on arbitrum-sepolia, which needs no bridge, the move has paid for itself after 22 days. Next comes erc4626 on base-sepolia: it pays less, 3.70 %.',
  steps: [
    {
      type: 'bridge',
      sequence: 1,
      from: 'arbitrum-sepolia',
      to: 'base-sepolia',
      protocol: 'cctp',
      asset: 'USDC',
      amount: '1',
      speed: 'fast',
      maxFee: '0.00012',
      arrives: '0.9999',
    },
    {
      type: 'deposit',
      sequence: 2,
      chain: 'base-sepolia',
      protocol: 'aave-v3',
      asset: 'USDC',
      amount: '0.9999',
    },
  ],
}

export const plannedIntent = {
  id: 'intent_01m7y67v14e52t225qv2zm6kz4',
  walletId: WALLET_ID,
  status: 'planning',
  action: 'lend',
  amount: 1,
  asset: 'USDC',
  executionPlan,
  createdAt: '2026-11-21T04:36:09.381Z',
}

const transactions = [
  {
    type: 'bridge',
    txHash: '0x0b0f44d660018be1908791ea438a12fa090a1937e3e86f1df257bc55ff42536a',
    chain: 'arbitrum-sepolia',
    gasUsed: '167328',
    gasCostUsd: 0.010039,
  },
  {
    type: 'mint',
    txHash: '0xf1942d2d98e048e9fe5078d99c368908cbfc9fc7d7d702e336dbee5c1a6e99c5',
    chain: 'base-sepolia',
    gasUsed: '133613',
    gasCostUsd: 0.002537,
  },
  {
    type: 'deposit',
    txHash: '0xf648eeccfc11cfe302e51282f9ae5b7f98df1f61c3933fea888f4c0d27f4d12d',
    chain: 'base-sepolia',
    gasUsed: '283473',
    gasCostUsd: 0.004803,
  },
]

export const completedIntent = {
  ...plannedIntent,
  status: 'completed',
  results: {
    completedSteps: 2,
    transactions,
    totalGasUsed: '584414',
    totalGasCostUsd: 0.017379,
    finalAmount: '0.9999',
    apy: 4.1178,
  },
  completedAt: '2026-11-21T04:36:11.912Z',
}

/** The burn is done, the deposit was refused: what has arrived is in the wallet. */
export const failedIntent = {
  ...plannedIntent,
  status: 'failed',
  results: {
    completedSteps: 1,
    transactions: transactions.slice(0, 2),
    totalGasUsed: '273314',
    totalGasCostUsd: 0.819942,
  },
  error: {
    code: 'DEPOSIT_FAILED',
    message: 'The call would fail: the reserve is paused (Aave 29)',
    step: 2,
    funds: [{ chain: 'base-sepolia', asset: 'USDC', amount: '0.9999' }],
  },
}

export const balancesAnswer = {
  walletId: WALLET_ID,
  address: walletAnswer.address,
  chains: [
    { chain: 'ethereum-sepolia', tokens: [] },
    {
      chain: 'arbitrum-sepolia',
      tokens: [
        {
          asset: 'USDC',
          balance: '1000000',
          balanceFormatted: '1',
          decimals: 6,
          valueUsd: 1,
        },
      ],
    },
    { chain: 'base-sepolia', tokens: [] },
  ],
  totalValueUsd: 1,
}

const rateAnswer = { chain: 'base-sepolia', protocol: 'aave-v3', asset: 'USDC', apy: 4.1178 }

export const yieldsAnswer = {
  rates: [
    { ...rateAnswer, chain: 'ethereum-sepolia', asset: 'TUSD', apy: 1.5187 },
    { ...rateAnswer, chain: 'ethereum-sepolia', protocol: 'compound-v3', apy: 1.2477 },
    { ...rateAnswer, chain: 'arbitrum-sepolia', apy: 3.5109 },
    rateAnswer,
    { ...rateAnswer, protocol: 'erc4626', apy: 3.6985 },
  ],
  best: {
    ...rateAnswer,
    reasoning: 'aave-v3 on base-sepolia pays 4.12 % on USDC, the best of 5 rates.',
  },
}

export const yieldHistoryAnswer = {
  data: [{ ...rateAnswer, takenAt: '2026-11-21T04:35:00.000Z' }],
  hasMore: false,
  nextCursor: null,
}

export const positionsAnswer = {
  walletId: WALLET_ID,
  address: walletAnswer.address,
  positions: [
    { ...rateAnswer, deposited: '100', withdrawn: '0', currentValue: '100.25', earned: '0.25' },
  ],
}

export const creditsAnswer = { balance: 9_992, totalPurchased: 0, totalUsed: 8, plan: 'pro' }

export const dryRunAnswer = {
  dryRun: true,
  ...lendRequest,
  asset: 'USDC',
  executionPlan,
}

export const cancelledIntent = {
  ...plannedIntent,
  status: 'failed',
  results: {
    completedSteps: 0,
    transactions: [],
    totalGasUsed: '0',
    totalGasCostUsd: 0,
  },
  error: { code: 'CANCELLED', message: 'The intent was cancelled. Nothing was sent.' },
}

const lane = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

export const readinessAnswer = {
  checkedAt: '2026-09-14T08:30:00.000Z',
  chains: [
    {
      chain: 'arbitrum-sepolia',
      answered: true,
      endpoints: [{ position: 1, state: 'ok' }],
      disabled: [{ capability: 'funding', what: 'test money', reason: 'the treasury has 0 USDC' }],
      checks: [
        { check: 'endpoint 1', outcome: 'ok', detail: 'serves chain 421614' },
        { check: 'EntryPoint', outcome: 'ok', detail: 'v0.8 signs for this chain' },
        { check: `treasury ${lane}`, outcome: 'failed', detail: 'the treasury has 0 USDC' },
      ],
    },
  ],
  treasury: [{ chain: 'arbitrum-sepolia', address: lane, asset: 'USDC', balance: '0', lasts: 0 }],
  lanes: [{ chain: 'arbitrum-sepolia', address: lane, asset: 'ETH', balance: '0.25', lasts: 812 }],
}
