import { z } from 'zod'
import { eventTypes, toPublicType } from '../../domain/events/events.js'
import { text, time, walletId, intentId } from './fields.js'
import { plannedIntent } from './examples/plannedIntent.js'

/** Events of intents and of the account, in the order of delivery. */

const meanings = [
  '`intent.step_progressed`: the burn of a bridge is confirmed.',
  '`intent.step_reverted`: a reorg reverted a reported operation. It is retried automatically.',
  '`intent.delayed` and `intent.delay_over`: money in a bridge takes longer than usual, and the delay has ended.',
  '`intent.recovered`: money arrived from the bridge after its intent had failed with BRIDGE_TIMEOUT.',
  '`intent.reopened`: a reorg reverted the reported end. Another end follows.',
  '`wallet.funded`: test money has arrived.',
  "`credits.low` and `credits.exhausted`: less than a tenth of the month's credits is left, or none. Each is sent once until new credits are granted.",
  '`webhook.disabled`: an endpoint was disabled, with the reason.',
]

export const publicTypes = eventTypes.map(toPublicType)

const eventType = z.enum(publicTypes).meta({
  id: 'EventType',
  description: `Type of the event. ${meanings.join(' ')} More types may be added.`,
  examples: ['intent.step_completed'],
})

export const eventIdInput = z
  .string()
  .regex(/^evt_\d{1,18}$/, { error: 'must be the `id` of an event' })

export const afterInput = eventIdInput
  .optional()
  .meta({ description: 'Resume after the event with this id.', examples: ['evt_6'] })

export const event = z
  .strictObject({
    id: text(
      'Permanent id of the event. Later events may have lower numbers: keep the order of delivery.',
      'evt_7',
    ),
    type: eventType,
    intentId: intentId.optional(),
    walletId: walletId.optional(),
    timestamp: time('When it happened, UTC.'),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        'Fields by type. Intent: its new `status`, `error` and `delay`. Step: its number `step`, the `kind` of operation, `chain` and `txHash`. New wallet: `userId` and `address`. Test money: `amount`, `chain` and `txHash`. Credits: `balance` and `monthlyCredits`. Webhook endpoint: `webhookId` and `reason`. The `kind` of an operation is bridge (the burn), mint, swap, deposit or withdraw.',
    }),
  })
  .meta({
    id: 'Event',
    description: 'An event of an intent or of the account.',
  })

const about = { intentId: plannedIntent.id, walletId: plannedIntent.walletId }
const step = { step: 2, kind: 'deposit', chain: 'base-sepolia' }
const hash = '0xf4bf35d76b5d57cd5fe92ce59887c23d3ad39fd3225a4dcec11a47cfdbdf264b'

export const eventExamples = [
  {
    ...{ id: 'evt_6', type: 'intent.step_started', ...about },
    ...{ timestamp: '2026-11-21T04:36:05.102Z', data: step },
  },
  {
    ...{ id: 'evt_7', type: 'intent.step_completed', ...about },
    ...{ timestamp: '2026-11-21T04:36:07.618Z', data: { ...step, txHash: hash } },
  },
  {
    ...{ id: 'evt_8', type: 'intent.completed', ...about },
    ...{ timestamp: '2026-11-21T04:36:07.690Z', data: { status: 'completed' } },
  },
] as const

export const readToken = z
  .strictObject({
    token: z
      .string()
      .regex(/^svc_rt_[0-9a-f]{48}$/)
      .meta({ examples: ['svc_rt_5b1f0c7d9e2a4b6c8d0e1f2a3b4c5d6e7f8091a2b3c4d5e6'] }),
    intentId,
    expiresAt: time('When it expires, UTC.'),
  })
  .meta({ id: 'ReadToken', description: 'Grants read access to one intent for 15 minutes.' })

export const readTokenAnswer = {
  token: 'svc_rt_5b1f0c7d9e2a4b6c8d0e1f2a3b4c5d6e7f8091a2b3c4d5e6',
  intentId: plannedIntent.id,
  expiresAt: '2026-11-21T04:51:02.845Z',
}
