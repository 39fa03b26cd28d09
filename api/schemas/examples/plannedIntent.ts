import { WALLET_ID, lendRequest } from './resources.js'

/** Intents of the published document, taken from a running service. */

export const bridgeStep = {
  type: 'bridge',
  sequence: 1,
  from: 'arbitrum-sepolia',
  to: 'base-sepolia',
  fromAlias: 'arbitrum',
  toAlias: 'base',
  protocol: 'cctp',
  asset: 'USDC',
  amount: '1',
  speed: 'fast',
  maxFee: '0.00012',
  arrives: '0.9999',
}

export const depositStep = {
  type: 'deposit',
  sequence: 2,
  chain: 'base-sepolia',
  alias: 'base',
  protocol: 'aave-v3',
  asset: 'USDC',
  amount: '0.9999',
}

export const executionPlan = {
  strategy: 'single-bridge',
  targetChain: 'base-sepolia',
  targetAlias: 'base',
  targetProtocol: 'aave-v3',
  expectedApy: 4.1178,
  estimatedGasUsd: 0.017896,
  estimatedTime: '3-18 seconds',
  reasoning:
    'aave-v3 on base-sepolia pays 4.12 % on USDC, the best rate of 5 that can be reached. The money comes from arbitrum-sepolia for a bridge fee of 0.0001 USDC and 0.012593 USD of gas. Compared with aave-v3 on arbitrum-sepolia, which needs no bridge, the move pays for itself after 22 days. Next comes erc4626 on base-sepolia: it pays less, 3.70 %.',
  steps: [bridgeStep, depositStep],
  alternatives: [
    {
      chain: 'base-sepolia',
      alias: 'base',
      protocol: 'erc4626',
      asset: 'USDC',
      apy: 3.6985,
      netUsd: 0.018985,
      why: 'It pays less, 3.70 %.',
    },
    {
      chain: 'arbitrum-sepolia',
      alias: 'arbitrum',
      protocol: 'aave-v3',
      asset: 'USDC',
      apy: 3.5109,
      netUsd: 0.029805,
      why: 'It pays less, 3.51 %.',
    },
  ],
}

export const plannedIntent = {
  id: 'intent_01m7y67v14e52t225qv2zm6kz4',
  walletId: WALLET_ID,
  userId: 'alice',
  status: 'planning',
  action: 'lend',
  amount: 1,
  asset: 'USDC',
  executionPlan,
  funds: [{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' }],
  actions: ['cancel'],
  requestId: 'req_01m7y67v0bw5t9ffp2r6ya3mzq',
  createdAt: '2026-11-21T04:36:09.381Z',
  updatedAt: '2026-11-21T04:36:09.381Z',
}

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
  actions: ['retry'],
  executionPlan: {
    ...executionPlan,
    steps: [
      {
        ...{ ...bridgeStep, status: 'cancelled' },
        operations: [
          { type: 'burn', status: 'cancelled', chain: bridgeStep.from },
          { type: 'attestation', status: 'cancelled', chain: bridgeStep.from },
          { type: 'mint', status: 'cancelled', chain: bridgeStep.to },
        ],
      },
      { ...depositStep, status: 'cancelled' },
    ],
  },
  updatedAt: '2026-11-21T04:36:10.120Z',
  cancelledAt: '2026-11-21T04:36:10.120Z',
  endedAt: '2026-11-21T04:36:10.120Z',
}
