import { z } from 'zod'
import { actions, strategies } from '../domain/intent.js'

/**
 * The resources that the API answers with. Strict, so that a test finds a field that nobody documented;
 * the published document leaves additional fields open, because answers may grow within `v1`.
 */

const text = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] })
const figure = (description: string, example: number) =>
  z.number().meta({ description, examples: [example] })
const count = (description: string, example: number) =>
  z
    .int()
    .nonnegative()
    .meta({ description, examples: [example] })
const decimalText = (description: string, example: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .meta({ description, examples: [example] })
const integerText = (description: string, example: string) =>
  z
    .string()
    .regex(/^\d+$/)
    .meta({ description, examples: [example] })
const time = (description: string) =>
  z.iso.datetime().meta({ description, examples: ['2026-11-21T04:36:02.789Z'] })

const identifier = (prefix: string, id: string, description: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}[0-9a-z]{26}$`))
    .meta({ id, description, examples: [`${prefix}01m7y67meyf8887pvj8zyn62fz`] })
const walletId = identifier('svc_wallet_', 'WalletId', 'Identifies a wallet in all later calls.')
const intentId = identifier('intent_', 'IntentId', 'Identifies an intent.')

const chain = text('Canonical name of a chain.', 'arbitrum-sepolia')
const asset = text('Symbol of a token.', 'USDC')
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({
    description: 'Address of the wallet, the same on every chain.',
    examples: ['0x69ea9668481236855282F21d38F1d078064EF099'],
  })

const unavailable = z
  .array(chain)
  .optional()
  .meta({ description: 'Chains that do not answer now; absent when all do.' })

/** A page of a list, newest first. */
export const listOf = (item: z.ZodType, id: string, description: string) =>
  z
    .strictObject({
      data: z.array(item),
      hasMore: z.boolean().meta({ description: 'Whether more follow.' }),
      nextCursor: text(
        'Send it as `cursor` for the next page; null on the last one.',
        'aW50ZW50…',
      ).nullable(),
    })
    .meta({ id, description })

export const wallet = z
  .strictObject({
    id: walletId,
    userId: text("The caller's own name of the end user.", 'alice'),
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
    valueUsd: figure('Value in USD.', 250.5),
  })
  .meta({ id: 'TokenBalance', description: 'What a wallet holds of one token on one chain.' })

export const balances = z
  .strictObject({
    walletId,
    address,
    chains: z
      .array(z.strictObject({ chain, tokens: z.array(tokenBalance) }))
      .meta({ description: 'One entry per supported chain; `tokens` is empty without funds.' }),
    totalValueUsd: figure('Sum over all chains in USD.', 250.5),
    unavailable,
  })
  .meta({ id: 'Balances', description: 'What a wallet holds on every supported chain.' })

const protocol = text('Lending protocol.', 'aave-v3')
const apy = figure('Yearly yield in percent.', 4.1178)

const rate = z
  .strictObject({ chain, protocol, asset, apy })
  .meta({ id: 'YieldRate', description: 'What a market pays now.' })

export const yields = z
  .strictObject({
    rates: z.array(rate),
    best: z
      .strictObject({
        chain,
        protocol: protocol.optional(),
        asset,
        apy,
        reasoning: text('Why it is the best.', 'aave-v3 on base-sepolia pays most.'),
      })
      .nullable()
      .meta({ description: 'The rate with the highest APY; null when no rate matches.' }),
    unavailable,
  })
  .meta({ id: 'Yields', description: 'Lending rates, read from the chains.' })

export const statuses = ['pending', 'planning', 'executing', 'completed', 'failed'] as const

const step = z
  .strictObject({
    type: z.enum(['bridge', 'deposit', 'withdraw', 'swap']),
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
      'What it spends, in whole tokens. After a bridge or a swap a forecast: what arrives is spent.',
      '1',
    ),
    speed: z.enum(['fast', 'standard']).optional().meta({ description: 'Of a bridge.' }),
    maxFee: decimalText('The most that a bridge keeps.', '0.00012').optional(),
    toAsset: asset.optional().meta({ description: 'What a swap brings.' }),
    arrives: decimalText('What a bridge or swap is expected to bring.', '0.9999').optional(),
    minimum: decimalText('The least that a swap brings, or it is not made.', '0.995').optional(),
  })
  .meta({ id: 'Step', description: 'One step of a plan.' })

const executionPlan = z
  .strictObject({
    strategy: z
      .enum(strategies)
      .meta({ description: 'Kind of plan.', examples: ['single-bridge'] }),
    targetChain: text('Chain where the money ends.', 'base-sepolia'),
    targetProtocol: protocol.optional(),
    expectedApy: apy.optional(),
    steps: z.array(step).meta({ description: 'In the order of execution.' }),
    estimatedGasUsd: figure('Estimated cost in USD.', 0.760917),
    estimatedTime: text('Range for a person to read.', '1-5 seconds'),
    reasoning: text('Why this plan.', 'aave-v3 on base-sepolia pays 4.12 % on USDC.'),
  })
  .meta({ id: 'ExecutionPlan', description: 'What the service does for an intent.' })

const transaction = z
  .strictObject({
    type: text('Kind of operation: bridge, mint, swap, deposit, withdraw.', 'deposit'),
    txHash: z
      .string()
      .regex(/^0x[0-9a-f]{64}$/)
      .meta({ examples: ['0xf4bf35d76b5d57cd5fe92ce59887c23d3ad39fd3225a4dcec11a47cfdbdf264b'] }),
    chain,
    gasUsed: integerText("This operation's share of the gas.", '283506'),
    gasCostUsd: figure('Its cost in USD.', 0.850518),
  })
  .meta({ id: 'Transaction', description: 'One operation on a chain.' })

const results = z
  .strictObject({
    completedSteps: count('Steps that are finished.', 1),
    transactions: z.array(transaction),
    totalGasUsed: integerText('Sum of gas.', '283506'),
    totalGasCostUsd: figure('Sum of gas cost in USD.', 0.850518),
    finalAmount: decimalText('What the last step moved, in whole tokens.', '1').optional(),
    apy: apy.optional(),
  })
  .meta({ id: 'Results', description: 'What has been done so far.' })

const funds = z
  .array(
    z.strictObject({
      chain: text('Chain, or `bridge` between two chains.', 'arbitrum-sepolia'),
      asset,
      amount: decimalText('In whole tokens.', '1'),
      protocol: protocol
        .optional()
        .meta({ description: 'Where it is lent; absent in the wallet.' }),
    }),
  )
  .meta({ description: 'Where the money is now.' })

const intentError = z
  .strictObject({
    code: text('Why it failed: a code such as DEPOSIT_FAILED or CANCELLED.', 'DEPOSIT_FAILED'),
    message: text(
      'The same for a person.',
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
        at: time('When it came out.'),
      })
      .optional()
      .meta({ description: 'Money that came out of the bridge after the failure was told.' }),
  })
  .meta({ id: 'IntentError', description: 'Why an intent failed.' })

const delay = z
  .strictObject({
    code: text('What it waits for.', 'BRIDGE_TIMEOUT'),
    since: time('Since when.'),
    message: text('The same for a person.', '1 USDC was burned and waits to be attested.'),
    funds,
  })
  .meta({ id: 'Delay', description: 'Why an intent is late, and where its money is.' })

const position = z
  .strictObject({
    chain,
    protocol,
    asset,
    deposited: decimalText('What intents have deposited, in whole tokens.', '100'),
    withdrawn: decimalText('What intents have taken out, in whole tokens.', '0'),
    currentValue: decimalText('What it is worth on the chain now, in whole tokens.', '100.25'),
    earned: z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .meta({
        description:
          '`currentValue` and `withdrawn` less `deposited`, in whole tokens; negative after a loss.',
        examples: ['0.25'],
      }),
    apy,
  })
  .meta({ id: 'Position', description: 'What a wallet has lent to one protocol on one chain.' })

export const positions = z
  .strictObject({
    walletId,
    address,
    positions: z.array(position).meta({ description: 'Those that hold something.' }),
    unavailable,
  })
  .meta({ id: 'Positions', description: 'What a wallet has lent.' })

export const yieldSnapshot = z
  .strictObject({ chain, protocol, asset, apy, takenAt: time('When it was read, UTC.') })
  .meta({ id: 'YieldSnapshot', description: 'What a market paid at a moment.' })

/** The fields that an intent has before it is stored: what a dry run answers with. */
const intended = {
  walletId,
  action: z.enum(actions),
  amount: figure('In whole tokens.', 1),
  asset,
}

export const intent = z
  .strictObject({
    id: intentId,
    status: z.enum(statuses).meta({
      description: '`completed` and `failed` are final. Poll every 5 to 10 seconds until then.',
    }),
    ...intended,
    chain: chain.optional().meta({ description: 'As the request named it.' }),
    fromChain: chain.optional().meta({ description: 'Source of a `bridge`.' }),
    toChain: chain.optional().meta({ description: 'Destination of a `bridge`.' }),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'What the caller supplied, unchanged.' }),
    retryOf: intentId.optional().meta({ description: 'The failed intent that it retries.' }),
    executionPlan: executionPlan.optional().meta({ description: 'Present once planned.' }),
    results: results.optional().meta({ description: 'Present from the first operation on.' }),
    delay: delay.optional().meta({ description: 'Present while it is late: nothing has failed.' }),
    error: intentError.optional().meta({ description: 'Present on a failed intent.' }),
    createdAt: time('When it was created, UTC.'),
    completedAt: time('When it was completed, UTC; on completed intents only.').optional(),
  })
  .meta({ id: 'Intent', description: 'A DeFi operation that the service plans and executes.' })

export const dryRun = z
  .strictObject({
    dryRun: z.literal(true),
    ...intended,
    executionPlan,
  })
  .meta({ id: 'DryRun', description: 'What an intent would do now. It does not exist.' })

export const funding = z
  .strictObject({
    id: identifier('fund_', 'FundingId', 'Identifies a funding.'),
    walletId,
    status: z.enum(['pending']).meta({ description: 'The money arrives after a delay.' }),
    chain,
    asset,
    amount: figure('In whole tokens: always 1.', 1),
    createdAt: time('When it was asked for, UTC.'),
  })
  .meta({ id: 'Funding', description: 'Test money that is on its way to a wallet.' })

export const creditAccount = z
  .strictObject({
    balance: z.int().meta({ description: 'Credits left.', examples: [9_992] }),
    totalPurchased: count('Credits bought so far.', 0),
    totalUsed: count('Credits used so far.', 8),
    plan: text('Plan of the account.', 'pro'),
  })
  .meta({ id: 'CreditAccount', description: 'Credits of the account.' })
