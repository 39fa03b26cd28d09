import { z } from 'zod'

/** Fields of resources, with their descriptions in the published document. */

export const text = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] })
export const figure = (description: string, example: number) =>
  z.number().meta({ description, examples: [example] })
export const count = (description: string, example: number) =>
  z
    .int()
    .nonnegative()
    .meta({ description, examples: [example] })
export const decimalText = (description: string, example: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .meta({ description, examples: [example] })
export const integerText = (description: string, example: string) =>
  z
    .string()
    .regex(/^\d+$/)
    .meta({ description, examples: [example] })
export const time = (description: string) =>
  z.iso.datetime().meta({ description, examples: ['2026-11-21T04:36:02.789Z'] })

export const identifier = (prefix: string, id: string, description: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}[0-9a-z]{26}$`))
    .meta({ id, description, examples: [`${prefix}01m7y67meyf8887pvj8zyn62fz`] })
export const walletId = identifier(
  'svc_wallet_',
  'WalletId',
  'Identifies a wallet in all later calls.',
)
export const intentId = identifier('intent_', 'IntentId', 'Identifies an intent.')

export const chain = text('Canonical name of a chain.', 'arbitrum-sepolia')
export const alias = text('Short name of the chain, which requests may use as well.', 'arbitrum')
export const asset = text('Symbol of a token.', 'USDC')
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({
    description: 'Address of the wallet, the same on every chain.',
    examples: ['0x69ea9668481236855282F21d38F1d078064EF099'],
  })

export const unavailable = z
  .array(chain)
  .optional()
  .meta({ description: 'Chains that do not respond. Absent when all respond.' })

export const protocol = text('Lending protocol.', 'aave-v3')
export const apy = figure('Yearly yield in percent.', 4.1178)

export const fundsAt = z
  .strictObject({
    chain: text('Chain, or `bridge` between two chains.', 'arbitrum-sepolia'),
    asset,
    amount: decimalText('In whole tokens.', '1'),
    protocol: protocol
      .optional()
      .meta({ description: 'Protocol to which it is lent. Absent for money in the wallet.' }),
  })
  .meta({ id: 'FundsAt', description: 'Money in one place.' })
