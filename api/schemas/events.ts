import { z } from 'zod'
import { eventTypes, toPublicType } from '../../domain/events.js'
import { text, time, walletId, intentId } from './fields.js'
import { plannedIntent } from './examples/plannedIntent.js'

/** Events: what happens to intents and beside them, in the order in which it is told. */

const meanings = [
  '`intent.step_progressed` tells that the burn of a bridge is confirmed.',
  '`intent.step_reverted` that a reorg took back what was told of an operation; it is sent again by itself.',
  '`intent.delayed` and `intent.delay_over` that money in a bridge takes longer than usual, and that it does no more.',
  '`intent.recovered` that money came out of the bridge after its intent had failed with BRIDGE_TIMEOUT.',
  '`intent.reopened` that a reorg undid the end that was told; another end follows.',
  '`wallet.funded` that test money has arrived.',
  "`credits.low` and `credits.exhausted` that less than a tenth of the month's credits is left, and that nothing is; each is told once until new credits come.",
  '`webhook.disabled` that an endpoint is sent nothing any more, and why.',
]

export const publicTypes = eventTypes.map(toPublicType)

const eventType = z.enum(publicTypes).meta({
  id: 'EventType',
  description: `What has happened. ${meanings.join(' ')} More types may come.`,
  examples: ['intent.step_completed'],
})

export const eventIdInput = z
  .string()
  .regex(/^evt_\d{1,18}$/, { error: 'must be the `id` of an event' })
  .meta({ description: 'Go on after the event with this id.', examples: ['evt_6'] })

export const event = z
  .strictObject({
    id: text(
      'Names the event for ever. Later events need not have higher numbers: keep the order in which they come.',
      'evt_7',
    ),
    type: eventType,
    intentId: intentId.optional(),
    walletId: walletId.optional(),
    timestamp: time('When it happened, UTC.'),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "`status` of the intent from then on; of a step its number in `step`, the `kind` of operation, `chain` and `txHash`; `error` and `delay` as in the intent; `userId` and `address` of a new wallet; `amount`, `chain` and `txHash` of test money; `balance` and `monthlyCredits` of credits; `webhookId` and `reason` of an endpoint. An operation's `kind` is bridge (the burn), mint, swap, deposit or withdraw.",
    }),
  })
  .meta({
    id: 'Event',
    description: 'Something that has happened to an intent, or in the account beside intents.',
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
    expiresAt: time('When it ends, UTC.'),
  })
  .meta({ id: 'ReadToken', description: 'Opens one intent to read, for some minutes.' })

export const readTokenAnswer = {
  token: 'svc_rt_5b1f0c7d9e2a4b6c8d0e1f2a3b4c5d6e7f8091a2b3c4d5e6',
  intentId: plannedIntent.id,
  expiresAt: '2026-11-21T04:51:02.845Z',
}
