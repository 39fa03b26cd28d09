import { z } from 'zod'
import { invalidRequest, type ServiceError } from '../../domain/errors.js'
import { actions, type IntentRequest } from '../../domain/intent/intent.js'
import { chainNames } from '../../evm/registry.js'
import { chainInput } from './parameters.js'
import { safeText } from './safeText.js'
import { assetUnits } from '../../domain/money.js'
import { intentMetadata } from './metadata.js'

const DECIMAL = String.raw`^(0|[1-9]\d*)(\.\d+)?$`
const numberOrText = {
  description: 'In whole tokens: a JSON number, or decimal text for more than 15 digits.',
  examples: [1, '0.5'],
}
const amount = z
  .union([z.number(), z.string().max(80)], 'must be a number or decimal text')
  .refine((value) => value !== 'max', 'must be a number or decimal text: `max` is for withdrawals')
  .meta({
    ...numberOrText,
    override: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0 },
        { type: 'string', maxLength: 80, pattern: DECIMAL },
      ],
    },
  })
const amountOrMax = z
  .union([z.number(), z.string().max(80)], 'must be a number, decimal text or `max`')
  .meta({
    description: `${numberOrText.description} \`max\`: everything, interest included.`,
    examples: [1, 'max'],
    override: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0 },
        { type: 'string', maxLength: 80, pattern: `${DECIMAL}|^max$` },
      ],
    },
  })

/** Fields of every action. */
const anyAction = {
  walletId: safeText(64).meta({ description: 'Id of the wallet.' }),
  asset: z
    .literal('USDC', 'must be `USDC`')
    .default('USDC')
    .meta({ description: 'Symbol of the token.' }),
  metadata: intentMetadata.optional(),
}
/** The published document leaves the names open: clients pass on the names of other answers. */
const chainName = chainInput.meta({
  description: `Name of a chain: ${chainNames.map((name) => `\`${name}\``).join(', ')}. Mainnet-style names such as \`arbitrum\` are aliases.`,
  override: { type: 'string', minLength: 1, maxLength: 32, examples: ['arbitrum-sepolia'] },
})

const DEFAULT_HORIZON_DAYS = 30

const lend = z
  .strictObject({
    ...anyAction,
    action: z.literal('lend'),
    amount,
    chain: chainName.optional(),
    optimize: z.enum(['apy', 'net']).default('apy').meta({
      description:
        '`apy`: the best rate. `net`: the highest net result after bridge, swap and gas.',
    }),
    horizonDays: z
      .int()
      .min(1)
      .max(3_650)
      .optional()
      .meta({
        description: `Days of yield that \`net\` compares with the costs. ${DEFAULT_HORIZON_DAYS} when absent.`,
        examples: [90],
      }),
  })
  .meta({
    id: 'LendRequest',
    description: 'Lends on `chain`, or at the best rate without it.',
  })
const withdraw = z
  .strictObject({
    ...anyAction,
    action: z.literal('withdraw'),
    amount: amountOrMax,
    // Required. The error for a missing chain needs the wallet: `toSubmission` returns it.
    chain: chainName.optional(),
  })
  .meta({
    id: 'WithdrawRequest',
    description: 'Withdraws lent money on `chain`.',
    override: { required: ['walletId', 'action', 'amount', 'chain'] },
  })
const bridge = z
  .strictObject({
    ...anyAction,
    action: z.literal('bridge'),
    amount,
    fromChain: chainName,
    toChain: chainName,
  })
  .meta({ id: 'BridgeRequest', description: 'Moves money from one chain to another.' })

const actionRule = ({ code }: { code?: string | undefined }) =>
  code === 'invalid_union' ? 'must be `lend`, `withdraw` or `bridge`' : undefined

const previewed = {
  previewId: z
    .string()
    .regex(/^preview_[0-9a-z]{26}$/, 'must be the `previewId` that `preview_intent` returned')
    .meta({ description: 'The `previewId` that `preview_intent` returned.' }),
}

/** All fields of all actions, for the schema of tools. Validation checks the combination. */
export const anyRequestFields = {
  ...withdraw.shape,
  action: z.enum(actions).meta({ description: 'What the intent does.' }),
  chain: chainName.optional().meta({
    description: 'Chain of a lend, the best rate when absent. Required to withdraw.',
  }),
  fromChain: chainName.optional().meta({ description: 'Source chain of a bridge.' }),
  toChain: chainName.optional().meta({ description: 'Destination chain of a bridge.' }),
  optimize: lend.shape.optimize,
  horizonDays: lend.shape.horizonDays,
}
export const previewedFields = { ...previewed, ...anyRequestFields }

/** Body of `POST /v1/intents`. Each action accepts its own fields only. */
export const intentRequestBody = z
  .discriminatedUnion('action', [lend, withdraw, bridge], { error: actionRule })
  .meta({ id: 'IntentRequest', description: 'The request of an intent.' })
/** Input of `create_intent`: a request with the id of its preview. */
export const previewedRequestBody = z.discriminatedUnion(
  'action',
  [lend.extend(previewed), withdraw.extend(previewed), bridge.extend(previewed)],
  { error: actionRule },
)
export type IntentRequestBody = z.infer<typeof intentRequestBody>

/**
 * The request in a body of `POST /v1/intents`: amount in base units.
 *
 * @throws {ServiceError} INVALID_REQUEST with the name of the field.
 */
export function toRequest(body: IntentRequestBody): IntentRequest {
  const { asset } = body
  switch (body.action) {
    case 'lend': {
      const chain = body.chain === undefined ? {} : { chain: body.chain }
      const amountUnits = assetUnits(body.amount)
      return { action: 'lend', asset, amountUnits, ...chain, ...netOption(body) }
    }
    case 'withdraw': {
      if (body.chain === undefined) throw chainRequired([])
      const amountUnits = body.amount === 'max' ? 'max' : assetUnits(body.amount)
      return { action: 'withdraw', asset, amountUnits, chain: body.chain }
    }
    case 'bridge': {
      const { fromChain, toChain } = body
      const amountUnits = assetUnits(body.amount)
      if (fromChain === toChain) {
        throw invalidRequest('toChain', 'toChain must be another chain than fromChain.')
      }
      return { action: 'bridge', asset, amountUnits, fromChain, toChain }
    }
  }
}

/** @param lent - Chains on which the wallet lends. Empty: all chains are named. */
export function chainRequired(lent: string[]): ServiceError {
  const hint =
    lent.length > 0
      ? `The wallet lends on ${lent.join(' and ')}.`
      : `Use one of: ${chainNames.join(', ')}.`
  return invalidRequest('chain', `chain is required. ${hint}`)
}

function netOption({ optimize, horizonDays }: z.infer<typeof lend>) {
  if (optimize === 'net') return { netOverDays: horizonDays ?? DEFAULT_HORIZON_DAYS }
  if (horizonDays === undefined) return {}
  throw invalidRequest('horizonDays', 'horizonDays is only for optimize: "net".')
}
