/** Requests and answers of the published document, taken from a running service. */

export const WALLET_ID = 'svc_wallet_01m7y67meyf8887pvj8zyn62fz'

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
  alias: 'arbitrum',
  asset: 'USDC',
  amount: 1,
  createdAt: '2026-11-21T04:36:02.845Z',
}

export const completedFunding = {
  ...fundingAnswer,
  status: 'completed',
  txHash: '0x2f1c7b1d0a9e4c6fb0f6a3b9b8e3a5d27c4d1e8f90a1b2c3d4e5f60718293a4b',
  endedAt: '2026-11-21T04:36:04.120Z',
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

export const balancesAnswer = {
  walletId: WALLET_ID,
  address: walletAnswer.address,
  chains: [
    { chain: 'ethereum-sepolia', alias: 'ethereum', tokens: [] },
    {
      chain: 'arbitrum-sepolia',
      alias: 'arbitrum',
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
    { chain: 'base-sepolia', alias: 'base', tokens: [] },
  ],
  totalValueUsd: 1,
  lentUsd: 100.25,
  positions: `/v1/positions/${WALLET_ID}`,
}

const rateAnswer = {
  chain: 'base-sepolia',
  alias: 'base',
  protocol: 'aave-v3',
  asset: 'USDC',
  apy: 4.1178,
}

export const yieldsAnswer = {
  rates: [
    { ...rateAnswer, chain: 'ethereum-sepolia', alias: 'ethereum', asset: 'TUSD', apy: 1.5187 },
    {
      ...rateAnswer,
      chain: 'ethereum-sepolia',
      alias: 'ethereum',
      protocol: 'compound-v3',
      apy: 1.2477,
    },
    { ...rateAnswer, chain: 'arbitrum-sepolia', alias: 'arbitrum', apy: 3.5109 },
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

const sender = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

export const readinessProbeAnswer = {
  ...{ ready: true, postgres: true, signer: true, temporal: true, degraded: false },
}

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
        { check: `treasury ${sender}`, outcome: 'failed', detail: 'the treasury has 0 USDC' },
      ],
    },
  ],
  treasury: [{ chain: 'arbitrum-sepolia', address: sender, asset: 'USDC', balance: '0', lasts: 0 }],
  senders: [
    { chain: 'arbitrum-sepolia', address: sender, asset: 'ETH', balance: '0.25', lasts: 812 },
  ],
}
