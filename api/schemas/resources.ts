import { z } from 'zod'
import { fundingStatuses } from '../../domain/intent/funding.js'
import { explorerUrl, txHash, waitingFor } from './timeline.js'
import {
  text,
  figure,
  count,
  decimalText,
  integerText,
  time,
  identifier,
  walletId,
  chain,
  alias,
  asset,
  address,
  unavailable,
  protocol,
  apy,
} from './fields.js'

/**
 * The resources of the API. They are strict, so that tests find undocumented fields. The published document allows
 * additional fields, because responses may gain fields within `v1`.
 */

/** A page of a list, newest first. */
export const listOf = (item: z.ZodType, id: string, description: string) =>
  z
    .strictObject({
      data: z.array(item),
      hasMore: z.boolean().meta({ description: 'True when there is a next page.' }),
      nextCursor: text(
        'Send it as `cursor` for the next page; null on the last one.',
        'intent_01m7y67v14e52t225qv2zm6kz4',
      ).nullable(),
    })
    .meta({ id, description })

export const wallet = z
  .strictObject({
    id: walletId,
    userId: text("The caller's own identifier for the end user.", 'alice'),
    address,
    chainType: text('Kind of address.', 'ethereum'),
    chains: z.array(chain).meta({ description: 'Chains that the wallet supports: all of them.' }),
    metadata: z
      .record(z.string(), z.unknown())
      .meta({ description: 'What the caller supplied, unchanged.', examples: [{ tier: 'gold' }] }),
    createdAt: time('When it was created, UTC.'),
  })
  .meta({ id: 'Wallet', description: 'A wallet of one end user, on every supported chain.' })

const tokenBalance = z
  .strictObject({
    asset,
    balance: integerText('Amount in minimal units.', '250500000'),
    balanceFormatted: decimalText('Amount with decimals applied.', '250.5'),
    decimals: count('Decimals of the token: 6 for USDC, 18 for ETH.', 6),
    valueUsd: figure(
      'Value in USD. Null while the price of the token is unknown.',
      250.5,
    ).nullable(),
  })
  .meta({ id: 'TokenBalance', description: 'What a wallet holds of one token on one chain.' })

const chainBalances = z
  .strictObject({ chain, alias, tokens: z.array(tokenBalance) })
  .meta({ id: 'ChainBalances', description: 'Token balances of a wallet on one chain.' })

export const balances = z
  .strictObject({
    walletId,
    address,
    chains: z
      .array(chainBalances)
      .meta({ description: 'One entry per supported chain; `tokens` is empty without funds.' }),
    totalValueUsd: figure(
      'Sum over all chains in USD, of the tokens with a known price. Without what is lent.',
      250.5,
    ),
    lentUsd: figure(
      'Value of what the wallet has lent, with interest, in USD. Null while a chain, a market or a price cannot be read.',
      100.25,
    ).nullable(),
    positions: text(
      'Path of the positions, with the amount and the earnings of each.',
      '/v1/positions/svc_wallet_01m7y67meyf8887pvj8zyn62fz',
    ),
    unavailable,
  })
  .meta({ id: 'Balances', description: 'Token balances of a wallet on every supported chain.' })

const rate = z
  .strictObject({ chain, alias, protocol, asset, apy })
  .meta({ id: 'YieldRate', description: 'Current rate of a market.' })

const disabledMarket = z
  .strictObject({
    chain,
    alias,
    protocol,
    asset: asset.optional(),
    reason: text('Why it is disabled.', 'it does not list the token'),
  })
  .meta({ id: 'DisabledMarket', description: 'A listed market that cannot be used now.' })

const bestYield = z
  .strictObject({
    chain,
    alias,
    protocol: protocol.optional(),
    asset,
    apy,
    reasoning: text('Why it is the best.', 'aave-v3 on base-sepolia pays most.'),
  })
  .meta({ id: 'BestYield', description: 'The rate with the highest APY, and why it is the best.' })

export const yields = z
  .strictObject({
    rates: z.array(rate),
    best: bestYield
      .nullable()
      .meta({ description: 'The rate with the highest APY; null when no rate matches.' }),
    unavailable,
    disabled: z
      .array(disabledMarket)
      .optional()
      .meta({ description: 'Markets that cannot be used now. Absent when all can be used.' }),
  })
  .meta({ id: 'Yields', description: 'Lending rates, read from the chains.' })

const position = z
  .strictObject({
    chain,
    alias,
    protocol,
    asset,
    deposited: decimalText('Deposits by intents, in whole tokens.', '100'),
    withdrawn: decimalText('Withdrawals by intents, in whole tokens.', '0'),
    currentValue: decimalText('Current value on the chain, in whole tokens.', '100.25'),
    earned: z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .meta({
        description:
          'Interest on the deposits by intents, in whole tokens. Receipt tokens that others sent to the wallet do not count. Negative after a loss.',
        examples: ['0.25'],
      }),
    apy,
    closed: z
      .literal(true)
      .optional()
      .meta({ description: 'True when everything was withdrawn, else absent.' }),
  })
  .meta({
    id: 'Position',
    description: 'A lending position of a wallet: one protocol on one chain.',
  })

export const positions = z
  .strictObject({
    walletId,
    address,
    positions: z.array(position).meta({
      description: 'Open positions, with `closed=true` also closed ones.',
    }),
    unavailable,
  })
  .meta({ id: 'Positions', description: 'Lending positions of a wallet.' })

export const yieldSnapshot = z
  .strictObject({ chain, alias, protocol, asset, apy, takenAt: time('Time of the reading, UTC.') })
  .meta({ id: 'YieldSnapshot', description: 'Rate of a market at a point in time.' })

export const funding = z
  .strictObject({
    id: identifier('fund_', 'FundingId', 'Identifies a funding.'),
    walletId,
    status: z.enum(fundingStatuses).meta({
      id: 'FundingStatus',
      description:
        '`pending`: the money is on its way. `completed`: it is in the wallet. `failed`: it was not sent, and will not be.',
    }),
    chain,
    alias,
    asset,
    amount: figure('In whole tokens: always 1.', 1),
    waitingFor: waitingFor.optional().meta({ description: 'Present while it is pending.' }),
    txHash: txHash.optional().meta({ description: 'Hash of the transfer, once it is in a block.' }),
    explorerUrl: explorerUrl.optional(),
    error: z
      .strictObject({ code: z.literal('FUNDING_FAILED'), message: z.string() })
      .meta({ id: 'FundingError', description: 'Why a funding failed.' })
      .optional(),
    createdAt: time('When it was requested, UTC.'),
    endedAt: time('When it was completed or failed, UTC.').optional(),
  })
  .meta({ id: 'Funding', description: 'Test money for a wallet.' })

export const creditAccount = z
  .strictObject({
    balance: z.int().meta({ description: 'Credits left.', examples: [9_992] }),
    totalPurchased: count('Credits bought so far.', 0),
    totalUsed: count('Credits used so far.', 8),
    plan: text('Plan of the account.', 'pro'),
  })
  .meta({ id: 'CreditAccount', description: 'Credits of the account.' })
