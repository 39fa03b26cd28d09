import { z } from 'zod'
import { stepStatuses } from '../../domain/intent/stepOperation.js'
import { waitingCatalog, waitingCodes } from '../../domain/intent/waiting.js'
import { chain, figure, text, time } from './fields.js'

/** Status, wait reason and transaction of a step or a funding. */

const keysOf = <Key extends string>(record: Record<Key, unknown>) =>
  Object.keys(record) as [Key, ...Key[]]

/** Names with their meanings, for a description. */
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
  description: `Status of the step. ${listed(stepStatuses)}`,
  examples: ['completed'],
})

const waits = Object.fromEntries(
  Object.entries(waitingCatalog).map(([code, { meaning }]) => [code, meaning]),
)

export const waitingFor = z
  .strictObject({
    code: z.enum(waitingCodes).meta({
      id: 'WaitingCode',
      description: `Why it waits. ${listed(waits)} More codes may be added.`,
      examples: ['ATTESTATION'],
    }),
    message: text(
      'Description of the wait.',
      'Burned on arbitrum-sepolia. Waits for the attestation.',
    ),
    since: time('Start of the wait.'),
    usualSeconds: figure('Usual maximum duration in seconds, when known.', 15).optional(),
  })
  .meta({ id: 'WaitingFor', description: 'Why it waits. Nothing has failed.' })

export const times = {
  startedAt: time('When its first operation was created.').optional(),
  endedAt: time('When it finished.').optional(),
  txHash: txHash.optional().meta({ description: 'Hash of its latest transaction in a block.' }),
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
  description: 'Page in the block explorer of the chain. Absent when the chain has none.',
})
