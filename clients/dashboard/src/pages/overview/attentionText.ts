import type { AttentionItem } from '../../api/types.js'
import { chainText } from '../../text/names.js'
import { shorten } from '../../text/shorten.js'
import { agoText, dayText } from '../../text/time.js'
import { disabledReasons } from '../webhooks/disabledReasons.js'

type Sentence = { state: 'failed' | 'waiting' | 'stopped'; text: string; detail?: string }
type Of<Kind extends AttentionItem['kind']> = Extract<AttentionItem, { kind: Kind }>

/** The largest exact count of the API. */
const MOST = 100

const countText = (count: number) => (count > MOST ? `More than ${MOST}` : String(count))

/** A count with its noun and verb: `1 intent waits`, `2 intents wait`. */
const counted = (count: number, [one, several]: [string, string]) =>
  `${countText(count)} ${count === 1 ? one : several}`

/** What needs attention, as a sentence without a full stop. */
export function sentenceOf(item: AttentionItem, now: Date): Sentence {
  switch (item.kind) {
    case 'failed':
      return {
        state: 'failed',
        text: counted(item.count, [
          'failed intent can be retried',
          'failed intents can be retried',
        ]),
      }
    case 'waiting':
      return {
        state: 'waiting',
        text: counted(item.count, ['intent takes unusually long', 'intents take unusually long']),
        detail: item.codes.map((code) => waits[code]).join(', '),
      }
    case 'webhook':
      return sentenceOfWebhook(item)
    case 'credits':
      return sentenceOfCredits(item)
    case 'key':
      return {
        state: 'waiting',
        text: `Key ${item.name} expires ${agoText(new Date(item.expiresAt), now)}`,
      }
    case 'paused':
      return { state: 'stopped', text: pauseText(item) }
  }
}

function sentenceOfCredits({ balance, monthly, endsAt }: Of<'credits'>): Sentence {
  const left = balance === 1 ? '1 credit is left' : `${balance.toLocaleString()} credits are left`
  return {
    state: balance > 0 ? 'waiting' : 'failed',
    text: balance > 0 ? left : 'No credits are left',
    detail: `${monthly.toLocaleString()} a month, renewed after ${lastDayOf(endsAt)} (UTC)`,
  }
}

/** The last day of a month whose end is known. */
const lastDayOf = (endsAt: string) =>
  dayText(new Date(Date.parse(endsAt) - 1).toISOString().slice(0, 10))

function sentenceOfWebhook({ url, disabledReason, failed, pending }: Of<'webhook'>): Sentence {
  const place = url.replace(/^https?:\/\//, '')
  if (disabledReason) {
    return {
      state: 'failed',
      text: `Webhook ${place} is disabled`,
      detail: disabledReasons[disabledReason],
    }
  }
  return {
    state: 'failed',
    text: `Webhook ${place} accepts no events`,
    detail: counted(failed + pending, ['delivery in 24 hours', 'deliveries in 24 hours']),
  }
}

function pauseText({ scope, subject }: Of<'paused'>): string {
  switch (scope) {
    case 'deployment':
      return 'The operator has paused this service: steps wait'
    case 'chain':
      return `${chainText(subject)} is paused: its steps wait`
    case 'account':
      return 'The operator has frozen this account: its steps wait'
    case 'wallet':
      return `The operator has frozen wallet ${shorten(subject)}`
  }
}

/** Short words for wait reasons. */
const waits: Record<Of<'waiting'>['codes'][number], string> = {
  SERVICE: 'service',
  SIGNER: 'signer',
  SENDER_GAS: 'ETH for gas',
  GAS_PRICE: 'gas price',
  PAUSED: 'paused',
  FROZEN: 'frozen',
  CHAIN_SILENT: 'chain does not respond',
  INDEXING: 'indexing',
  MARKET_ROOM: 'market capacity',
  PRICE: 'price',
  DAILY_LIMIT: 'daily limit',
  REFUSED: 'the call would fail',
  RESENDING: 'resending',
  MINING: 'block',
  CONFIRMATIONS: 'confirmations',
  ATTESTATION: 'attestation',
}
