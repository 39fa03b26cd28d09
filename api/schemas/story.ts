import { z } from 'zod'
import { stepStatuses } from '../../domain/stepOperation.js'
import { waitingCatalog, waitingCodes } from '../../domain/waiting.js'
import { chain, figure, text, time } from './fields.js'

/** How far something is, what it waits for, and where it stands on its chain. */

const keysOf = <Key extends string>(record: Record<Key, unknown>) =>
  Object.keys(record) as [Key, ...Key[]]

/** Names with what each means, for a description. */
const listed = (meanings: Record<string, string>) =>
  Object.entries(meanings)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}${meaning.endsWith('.') ? '' : '.'}`)
    .join(' ')

export const txHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ examples: ['0xf4bf35d76b5d57cd5fe92ce59887c23d3ad39fd3225a4dcec11a47cfdbdf264b'] })

export const stepStatus = z.enum(keysOf(stepStatuses)).meta({
  id: 'StepStatus',
  description: `How far it is. ${listed(stepStatuses)}`,
  examples: ['completed'],
})

const waits = Object.fromEntries(
  Object.entries(waitingCatalog).map(([code, { meaning }]) => [code, meaning]),
)

export const waitingFor = z
  .strictObject({
    code: z.enum(waitingCodes).meta({
      id: 'WaitingCode',
      description: `Why it does not go on at this moment. ${listed(waits)} More may be added.`,
      examples: ['ATTESTATION'],
    }),
    message: text('The same in words.', 'Burned on arbitrum-sepolia. Waits for the attestation.'),
    since: time('Since when.'),
    usualSeconds: figure('How long that usually takes at most, where it is known.', 15).optional(),
  })
  .meta({ id: 'WaitingFor', description: 'What is waited for. Nothing has failed.' })

export const times = {
  startedAt: time('When its first operation was ordered.').optional(),
  endedAt: time('When it was over.').optional(),
  txHash: txHash.optional().meta({ description: 'Its last transaction that is in a block.' }),
}

export const part = z
  .strictObject({
    type: z.enum(['burn', 'attestation', 'mint']),
    status: stepStatus,
    chain,
    ...times,
  })
  .meta({ id: 'StepPart', description: 'A part of a bridge step.' })

export const explorerUrl = z.url().meta({
  description: 'Its page in the explorer of the chain; absent where there is none.',
})
