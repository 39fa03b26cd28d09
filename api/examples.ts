/** Requests and answers of the published document, taken from a running service. */

const walletId = 'svc_wallet_01m7y67meyf8887pvj8zyn62fz'

export const createWalletRequest = { userId: 'alice', metadata: { tier: 'gold' } }

export const walletAnswer = {
  id: walletId,
  ...createWalletRequest,
  address: '0x69ea9668481236855282F21d38F1d078064EF099',
  chainType: 'ethereum',
  chains: ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'],
  createdAt: '2026-11-21T04:36:02.789Z',
}

export const fundRequest = { walletId }

export const fundingAnswer = {
  id: 'fund_01m7y67mmweazs7w67b97ns8t6',
  walletId,
  status: 'pending',
  chain: 'arbitrum-sepolia',
  asset: 'USDC',
  amount: 1,
  createdAt: '2026-11-21T04:36:02.845Z',
}

export const lendRequest = { walletId, action: 'lend', amount: 1 }
export const withdrawRequest = { walletId, action: 'withdraw', amount: 'max', chain: 'base' }
export const bridgeRequest = {
  ...{ walletId, action: 'bridge', amount: 1 },
  ...{ fromChain: 'arbitrum-sepolia', toChain: 'base-sepolia' },
}

const executionPlan = {
  strategy: 'direct-deposit',
  targetChain: 'arbitrum-sepolia',
  targetProtocol: 'aave-v3',
  expectedApy: 3.510867470502203,
  estimatedGasUsd: 0.760917,
  estimatedTime: '1-5 seconds',
  reasoning: 'aave-v3 on arbitrum-sepolia pays 3.51 % on USDC, the best rate of 3.',
  steps: [
    {
      type: 'deposit',
      sequence: 1,
      chain: 'arbitrum-sepolia',
      protocol: 'aave-v3',
      asset: 'USDC',
      amount: '1',
    },
  ],
}

export const plannedIntent = {
  id: 'intent_01m7y67v14e52t225qv2zm6kz4',
  walletId,
  status: 'planning',
  action: 'lend',
  amount: 1,
  asset: 'USDC',
  executionPlan,
  createdAt: '2026-11-21T04:36:09.381Z',
}

export const completedIntent = {
  ...plannedIntent,
  status: 'completed',
  results: {
    completedSteps: 1,
    transactions: [
      {
        type: 'deposit',
        txHash: '0xf4bf35d76b5d57cd5fe92ce59887c23d3ad39fd3225a4dcec11a47cfdbdf264b',
        chain: 'arbitrum-sepolia',
        gasUsed: '283506',
        gasCostUsd: 0.850518,
      },
    ],
    totalGasUsed: '283506',
    totalGasCostUsd: 0.850518,
    finalAmount: '1',
    apy: 3.510867470502203,
  },
  completedAt: '2026-11-21T04:36:09.715Z',
}

export const balancesAnswer = {
  walletId,
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

const rateAnswer = { chain: 'arbitrum-sepolia', protocol: 'aave-v3', asset: 'USDC', apy: 3.5109 }

export const yieldsAnswer = {
  rates: [
    { ...rateAnswer, chain: 'ethereum-sepolia', apy: 1.5187 },
    rateAnswer,
    { ...rateAnswer, chain: 'base-sepolia', apy: 3.1522 },
  ],
  best: {
    ...rateAnswer,
    reasoning: 'aave-v3 on arbitrum-sepolia pays 3.51 % on USDC, the best of 3 rates.',
  },
}

export const yieldHistoryAnswer = {
  data: [{ ...rateAnswer, takenAt: '2026-11-21T04:35:00.000Z' }],
  hasMore: false,
  nextCursor: null,
}

export const positionsAnswer = {
  walletId,
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
