import { WALLET_ID, lendRequest } from './resources.js'

/** Intents of the published document, taken from a running service. */

const bridgeStep = {
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
}
const depositStep = {
  type: 'deposit',
  sequence: 2,
  chain: 'base-sepolia',
  protocol: 'aave-v3',
  asset: 'USDC',
  amount: '0.9999',
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
  steps: [bridgeStep, depositStep],
  alternatives: [
    {
      chain: 'base-sepolia',
      protocol: 'erc4626',
      asset: 'USDC',
      apy: 3.6985,
      netUsd: 0.018985,
      why: 'It pays less, 3.70 %.',
    },
    {
      chain: 'arbitrum-sepolia',
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
  status: 'planning',
  action: 'lend',
  amount: 1,
  asset: 'USDC',
  executionPlan,
  funds: [{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '1' }],
  createdAt: '2026-11-21T04:36:09.381Z',
  updatedAt: '2026-11-21T04:36:09.381Z',
}

const burned = {
  startedAt: '2026-11-21T04:36:09.502Z',
  endedAt: '2026-11-21T04:36:10.011Z',
  txHash: '0x0b0f44d660018be1908791ea438a12fa090a1937e3e86f1df257bc55ff42536a',
}
const minted = {
  startedAt: '2026-11-21T04:36:10.702Z',
  endedAt: '2026-11-21T04:36:11.210Z',
  txHash: '0xf1942d2d98e048e9fe5078d99c368908cbfc9fc7d7d702e336dbee5c1a6e99c5',
}
const deposited = {
  startedAt: '2026-11-21T04:36:11.260Z',
  endedAt: '2026-11-21T04:36:11.870Z',
  txHash: '0xf648eeccfc11cfe302e51282f9ae5b7f98df1f61c3933fea888f4c0d27f4d12d',
}
const status = 'completed'
const [from, to] = ['arbitrum-sepolia', 'base-sepolia']
const doneBridge = {
  ...bridgeStep,
  ...minted,
  status,
  startedAt: burned.startedAt,
  operations: [
    { type: 'burn', status, chain: from, ...burned },
    {
      ...{ type: 'attestation', status, chain: from },
      ...{ startedAt: burned.endedAt, endedAt: minted.startedAt },
    },
    { type: 'mint', status, chain: to, ...minted },
  ],
}

/** Burned, and not attested yet. */
export const waitingIntent = {
  ...plannedIntent,
  status: 'executing',
  executionPlan: {
    ...executionPlan,
    steps: [
      {
        ...bridgeStep,
        status: 'waiting',
        startedAt: burned.startedAt,
        txHash: burned.txHash,
        waitingFor: {
          code: 'ATTESTATION',
          message: 'Burned on arbitrum-sepolia, waits to be attested.',
          since: burned.endedAt,
          usualSeconds: 15,
        },
        operations: [
          { type: 'burn', status, chain: from, ...burned },
          { type: 'attestation', status: 'waiting', chain: from, startedAt: burned.endedAt },
          { type: 'mint', status: 'pending', chain: to },
        ],
      },
      { ...depositStep, status: 'pending' },
    ],
  },
  currentStep: 1,
  waitingFor: {
    code: 'ATTESTATION',
    message: 'Burned on arbitrum-sepolia, waits to be attested.',
    since: burned.endedAt,
    usualSeconds: 15,
  },
  funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
  updatedAt: burned.endedAt,
}

const transactions = [
  {
    type: 'bridge',
    step: 1,
    txHash: '0x0b0f44d660018be1908791ea438a12fa090a1937e3e86f1df257bc55ff42536a',
    chain: 'arbitrum-sepolia',
    blockNumber: 91_204,
    timestamp: '2026-11-21T04:36:09.000Z',
    gasUsed: '167328',
    gasCostUsd: 0.010039,
  },
  {
    type: 'mint',
    step: 1,
    txHash: '0xf1942d2d98e048e9fe5078d99c368908cbfc9fc7d7d702e336dbee5c1a6e99c5',
    chain: 'base-sepolia',
    blockNumber: 11_402,
    timestamp: '2026-11-21T04:36:11.000Z',
    gasUsed: '133613',
    gasCostUsd: 0.002537,
  },
  {
    type: 'deposit',
    step: 2,
    txHash: '0xf648eeccfc11cfe302e51282f9ae5b7f98df1f61c3933fea888f4c0d27f4d12d',
    chain: 'base-sepolia',
    blockNumber: 11_403,
    timestamp: '2026-11-21T04:36:11.000Z',
    gasUsed: '283473',
    gasCostUsd: 0.004803,
  },
]

export const completedIntent = {
  ...plannedIntent,
  status: 'completed',
  executionPlan: {
    ...executionPlan,
    steps: [doneBridge, { ...depositStep, ...deposited, status }],
  },
  funds: [{ chain: to, asset: 'USDC', amount: '0.9999', protocol: 'aave-v3' }],
  results: {
    completedSteps: 2,
    transactions,
    totalGasUsed: '584414',
    totalGasCostUsd: 0.017379,
    finalAmount: '0.9999',
    apy: 4.1178,
  },
  updatedAt: '2026-11-21T04:36:11.912Z',
  completedAt: '2026-11-21T04:36:11.912Z',
  endedAt: '2026-11-21T04:36:11.912Z',
}

/** The burn is done, the deposit was refused: what has arrived is in the wallet. */
export const failedIntent = {
  ...plannedIntent,
  status: 'failed',
  executionPlan: {
    ...executionPlan,
    steps: [
      doneBridge,
      {
        ...depositStep,
        status: 'failed',
        startedAt: deposited.startedAt,
        endedAt: deposited.endedAt,
      },
    ],
  },
  funds: [{ chain: to, asset: 'USDC', amount: '0.9999' }],
  updatedAt: '2026-11-21T04:36:11.912Z',
  endedAt: '2026-11-21T04:36:11.912Z',
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
  executionPlan: {
    ...executionPlan,
    steps: [
      {
        ...{ ...bridgeStep, status: 'cancelled' },
        operations: [
          { type: 'burn', status: 'cancelled', chain: from },
          { type: 'attestation', status: 'cancelled', chain: from },
          { type: 'mint', status: 'cancelled', chain: to },
        ],
      },
      { ...depositStep, status: 'cancelled' },
    ],
  },
  updatedAt: '2026-11-21T04:36:10.120Z',
  cancelledAt: '2026-11-21T04:36:10.120Z',
  endedAt: '2026-11-21T04:36:10.120Z',
}
