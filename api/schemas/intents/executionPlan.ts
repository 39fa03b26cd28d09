import { z } from 'zod'
import { strategies, warningCodes } from '../../../domain/intent/intent.js'
import { alias, apy, asset, chain, decimalText, figure, protocol, text } from '../fields.js'
import { part, stepStatus, times, waitingFor } from '../timeline.js'

/** The plan of an intent: its steps, and why it was chosen. */

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
    fromAlias: alias.optional().meta({ description: 'Alias of `from`.' }),
    toAlias: alias.optional().meta({ description: 'Alias of `to`.' }),
    chain: chain.optional().meta({ description: 'Chain of a deposit, withdrawal or swap.' }),
    alias: alias.optional().meta({ description: 'Alias of `chain`.' }),
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
    alias,
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

export const executionPlan = z
  .strictObject({
    strategy: z
      .enum(strategies)
      .meta({ description: 'Kind of plan.', examples: ['single-bridge'] }),
    targetChain: text('Chain where the money ends.', 'base-sepolia'),
    targetAlias: alias.meta({ description: 'Alias of `targetChain`.' }),
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
