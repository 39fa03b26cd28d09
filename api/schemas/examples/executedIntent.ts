import { bridgeStep, depositStep, executionPlan, plannedIntent } from './plannedIntent.js'
/** Intents of the published document that have started, from a running service. */

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
          message: 'Burned on arbitrum-sepolia. Waits for the attestation.',
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
    message: 'Burned on arbitrum-sepolia. Waits for the attestation.',
    since: burned.endedAt,
    usualSeconds: 15,
  },
  funds: [{ chain: 'bridge', asset: 'USDC', amount: '1' }],
  actions: [],
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
  actions: [],
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
  actions: ['retry'],
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
