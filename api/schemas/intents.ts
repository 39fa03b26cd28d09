import { z } from 'zod'
import { explainFailure, intentFailureCodes } from '../../domain/intent/failures.js'
import { actions, statuses, strategies, warningCodes } from '../../domain/intent/intent.js'
import {
  text,
  figure,
  count,
  decimalText,
  integerText,
  time,
  walletId,
  intentId,
  chain,
  asset,
  protocol,
  apy,
  fundsAt,
} from './fields.js'
import { explorerUrl, part, stepStatus, times, txHash, waitingFor } from './timeline.js'

/** Intents: plan, progress and end. */

const step = z
  .strictObject({
    type: z
      .enum(['bridge', 'deposit', 'withdraw', 'swap'])
      .meta({ id: 'StepType', description: 'Kind of the step.' }),
    sequence: z
      .int()
      .positive()
      .meta({ description: 'Place in the order, from 1.', examples: [1] }),
    from: chain.optional().meta({ description: 'Source chain of a bridge.' }),
    to: chain.optional().meta({ description: 'Destination chain of a bridge.' }),
    chain: chain.optional().meta({ description: 'Chain of a deposit, withdrawal or swap.' }),
    protocol: protocol.optional(),
    asset,
    amount: decimalText(
      'Amount that it spends, in whole tokens. A forecast after a bridge or a swap: the step spends the amount that arrives.',
      '1',
    ),
    speed: z.enum(['fast', 'standard']).optional().meta({ description: 'Speed of a bridge.' }),
    maxFee: decimalText('Maximum fee of a bridge.', '0.00012').optional(),
    toAsset: asset.optional().meta({ description: 'Token that a swap returns.' }),
    arrives: decimalText(
      'Expected output of a bridge or swap, in whole tokens.',
      '0.9999',
    ).optional(),
    minimum: decimalText(
      'Minimum output of a swap, in whole tokens. The swap reverts below it.',
      '0.995',
    ).optional(),
    status: stepStatus.optional().meta({ description: 'Absent in a dry run.' }),
    ...times,
    waitingFor: waitingFor.optional().meta({ description: 'Present while the step waits.' }),
    operations: z.array(part).optional().meta({
      description: 'Parts of a bridge: burn, attestation and mint, pending ones included.',
    }),
  })
  .meta({ id: 'Step', description: 'One step of a plan.' })

const warning = z
  .strictObject({
    code: z.enum(warningCodes).meta({
      description:
        '`NOT_WORTH_IT`: bridge, swap and gas cost more than a year in the market earns. `ASSET_CHANGES`: the plan lends another token than the requested one. `MARKET_NEARLY_FULL`: the deposit uses most of the remaining capacity of the market. `LOW_LIQUIDITY`: most of the market is borrowed, or it has little cash, so the deposit may not be withdrawable at any time. Only for a named chain without another market. `COSTS_UNKNOWN`: no feed has a price of ETH, so gas is not counted, or USDC is not worth a dollar.',
    }),
    message: text('Description of the warning.', 'USDC is swapped to TUSD on the way.'),
  })
  .meta({ id: 'PlanWarning', description: 'A warning about a plan.' })

const alternative = z
  .strictObject({
    chain,
    protocol,
    asset,
    apy,
    netUsd: figure(
      'Yield of one year minus the costs of bridge, swap and gas, in USD. Absent for a market that cannot be reached, and while a price is unknown.',
      0.0345,
    ).optional(),
    why: text('Why it was not chosen.', 'It pays less, 3.70 %.'),
  })
  .meta({ id: 'PlanAlternative', description: 'A market that was not chosen.' })

const executionPlan = z
  .strictObject({
    strategy: z
      .enum(strategies)
      .meta({ description: 'Kind of plan.', examples: ['single-bridge'] }),
    targetChain: text('Chain where the money ends.', 'base-sepolia'),
    targetProtocol: protocol.optional(),
    expectedApy: apy.optional(),
    steps: z.array(step).meta({ description: 'In the order of execution.' }),
    estimatedGasUsd: figure(
      'Estimated cost in USD. Null while the price of ETH is unknown.',
      0.760917,
    ).nullable(),
    estimatedTime: text('Range for a person to read.', '1-5 seconds'),
    reasoning: text('Why this plan was chosen.', 'aave-v3 on base-sepolia pays 4.12 % on USDC.'),
    warnings: z
      .array(warning)
      .optional()
      .meta({ description: 'Warnings about the plan. Absent without any.' }),
    alternatives: z.array(alternative).max(5).optional().meta({
      description: 'Other markets for a lend, best first.',
    }),
  })
  .meta({ id: 'ExecutionPlan', description: 'The steps that execute an intent.' })

const transaction = z
  .strictObject({
    type: text('Kind of operation: bridge, mint, swap, deposit, withdraw.', 'deposit'),
    step: z.int().positive().optional().meta({ description: 'Sequence of its step.' }),
    txHash,
    chain,
    blockNumber: count('Number of its block.', 41_234_567).optional(),
    timestamp: time('Timestamp of its block. Absent when unknown.').optional(),
    explorerUrl: explorerUrl.optional(),
    gasUsed: integerText("This operation's share of the gas.", '283473'),
    gasCostUsd: figure(
      'Its cost in USD, including the L1 data fee of a rollup. Null when the price of ETH was unknown.',
      0.004803,
    ).nullable(),
    failed: z
      .literal(true)
      .optional()
      .meta({ description: 'The call reverted and moved nothing. Absent for a successful call.' }),
  })
  .meta({ id: 'Transaction', description: 'One operation on a chain.' })

const results = z
  .strictObject({
    completedSteps: count('Number of completed steps.', 1),
    transactions: z.array(transaction),
    totalGasUsed: integerText('Sum of gas.', '283506'),
    totalGasCostUsd: figure(
      'Sum of gas cost in USD. Null when one of the costs is unknown.',
      0.850518,
    ).nullable(),
    finalAmount: decimalText('Amount that the last step moved, in whole tokens.', '1').optional(),
    apy: apy.optional(),
  })
  .meta({ id: 'Results', description: 'Results so far.' })

const funds = z.array(fundsAt).meta({ description: 'Where the money is now.' })

const failures = intentFailureCodes.map((code) => {
  const { meaning, money } = explainFailure(code)
  return `\`${code}\`: ${meaning} Money: ${money}`
})

const intentError = z
  .strictObject({
    code: z.enum(intentFailureCodes).meta({
      id: 'IntentFailureCode',
      description: `Why it failed. ${failures.join(' ')}`,
      examples: ['DEPOSIT_FAILED'],
    }),
    message: text(
      'Description of the failure.',
      'The deposit was reverted. The money is in the wallet.',
    ),
    step: z.int().positive().optional().meta({ description: 'Sequence of the failed step.' }),
    funds: funds.optional(),
    recovery: z
      .strictObject({
        txHash: z.string(),
        chain,
        asset,
        amount: decimalText('In whole tokens.', '0.9999'),
        at: time('When it arrived.'),
      })
      .meta({
        id: 'Recovery',
        description: 'Money that arrived from the bridge after the intent had failed.',
      })
      .optional(),
  })
  .meta({ id: 'IntentError', description: 'Why an intent failed.' })

const delay = z
  .strictObject({
    code: z.enum(['BRIDGE_TIMEOUT']).meta({ description: 'Why it is delayed.' }),
    since: time('Start of the delay.'),
    message: text('Description of the delay.', '1 USDC was burned and awaits its attestation.'),
    funds,
  })
  .meta({ id: 'Delay', description: 'Why an intent is delayed, and where its money is.' })

export const intentAction = z
  .enum(actions)
  .meta({ id: 'IntentAction', description: 'What an intent does.' })

/** Fields of an intent before it is stored, as in a dry run. */
const intended = {
  walletId,
  action: intentAction,
  amount: figure('In whole tokens.', 1),
  asset,
}

export const intent = z
  .strictObject({
    id: intentId,
    status: z.enum(statuses).meta({
      id: 'IntentStatus',
      description:
        '`completed` and `failed` are final. Poll every 5 to 10 seconds until then. A reorg deeper than the confirmations of its chain reopens an intent: it is `executing` again, without `error` and `completedAt`, and ends again automatically.',
    }),
    ...intended,
    chain: chain.optional().meta({ description: 'Chain of the request.' }),
    fromChain: chain.optional().meta({ description: 'Source of a `bridge`.' }),
    toChain: chain.optional().meta({ description: 'Destination of a `bridge`.' }),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'The metadata of the request, unchanged.' }),
    retryOf: intentId.optional().meta({ description: 'The failed intent that it retries.' }),
    retriedBy: intentId.optional().meta({ description: 'The intent that retries this one.' }),
    executionPlan: executionPlan.optional().meta({ description: 'Present once planned.' }),
    currentStep: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Sequence of the first step that is not completed, while it runs.' }),
    waitingFor: waitingFor
      .optional()
      .meta({ description: 'Why it waits: its step, its planning or its start.' }),
    results: results.optional().meta({ description: 'Present from the first operation on.' }),
    funds: funds
      .optional()
      .meta({ description: 'Where its money is now, in any state. Present once planned.' }),
    delay: delay
      .optional()
      .meta({ description: 'Present while the intent is delayed. It has not failed.' }),
    error: intentError.optional().meta({ description: 'Present on a failed intent.' }),
    createdAt: time('When it was created, UTC.'),
    updatedAt: time('When it or one of its steps changed last, UTC.').optional(),
    completedAt: time('When it was completed, UTC; on completed intents only.').optional(),
    cancelledAt: time('When it was cancelled, UTC; on cancelled intents only.').optional(),
    endedAt: time('When it was completed, failed or cancelled, UTC.').optional(),
  })
  .meta({ id: 'Intent', description: 'A DeFi operation that the service plans and executes.' })

export const dryRun = z
  .strictObject({
    dryRun: z.literal(true),
    ...intended,
    executionPlan,
  })
  .meta({ id: 'DryRun', description: 'The plan of a request. Nothing is stored.' })
