import { z } from 'zod'
import { explainFailure, intentFailureCodes } from '../../domain/intent/failures.js'
import { actions, statuses } from '../../domain/intent/intent.js'
import { followUps } from '../../domain/intent/possibleActions.js'
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
  apy,
  fundsAt,
} from './fields.js'
import { executionPlan } from './intents/executionPlan.js'
import { explorerUrl, txHash, waitingFor } from './timeline.js'

/** Intents: progress and end. */

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

const followUp = z.enum(followUps).meta({
  id: 'FollowUp',
  description:
    '`cancel`: `POST /intents/{intentId}/cancel`. `retry`: `POST /intents/{intentId}/retry`. More may be added.',
})

export const intent = z
  .strictObject({
    id: intentId,
    status: z.enum(statuses).meta({
      id: 'IntentStatus',
      description:
        '`completed` and `failed` are final. Poll every 5 to 10 seconds until then. A reorg deeper than the confirmations of its chain reopens an intent: it is `executing` again, without `error` and `completedAt`, and ends again automatically.',
    }),
    ...intended,
    userId: text('The user of the wallet, by your own identifier.', 'alice').optional(),
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
    actions: z.array(followUp).meta({
      description:
        'What the caller can do with the intent now. Empty for a caller that may only read. `retry` is absent while the deployment is paused, or the wallet or account is frozen. A listed `retry` can still fail for missing money, a paused or disabled chain or market, credits, or limits of the account.',
      examples: [['cancel']],
    }),
    retryFrom: time(
      'When `retry` becomes possible, UTC. Present while only a possible reorg prevents a retry and the time is known.',
    ).optional(),
    requestId: text(
      'The request that created it, as in `X-Request-Id` of its response.',
      'req_01m7y67v0bw5t9ffp2r6ya3mzq',
    ).optional(),
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
