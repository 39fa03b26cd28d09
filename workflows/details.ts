import type { ExecutionPlan, Step } from '../domain/intent.js'
import type { Hold } from '../domain/hold.js'

/** An operation that is over: what it did, on which chain, and where that can be seen. */
export type Mark = { sequence: number; what: string; chain: string; txHash: string; url?: string }

/** The attestation that is waited for: since when (ISO 8601), and how long it usually takes. */
export type Awaited = { since: string; usualSeconds: [least: number, most: number] }

/** What an operator is told of an intent. */
export type View = {
  plan?: ExecutionPlan
  marks: Mark[]
  /** The step that is under way, and since when. */
  current?: { sequence: number; since: Date }
  awaited?: Awaited
  hold?: Hold
  /** How it ended. */
  end?: string
}

/** After this many times the usual, an attestation is late. */
const PATIENCE = 2

/** The view in the Markdown that the Temporal UI shows. */
export function toMarkdown(view: View): string {
  const { plan, end } = view
  const [head, now] = [end && `**${end}**`, end ? undefined : present(view)]
  const steps = plan?.steps.flatMap((step) => linesOf(view, step)) ?? []
  const parts = [head, now, plan?.reasoning, steps.join('\n')]
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n')
}

/** What it waits for at this moment. */
function present({ plan, hold, awaited }: View): string | undefined {
  const lines = [hold && toldHold(hold), awaited && toldWait(awaited)].filter(Boolean)
  if (lines.length > 0) return lines.join('\n\n')
  return plan ? undefined : 'Waits to be planned: no chain answered when it was created.'
}

function toldHold({ code, message, since, isUsual, failure }: Hold): string {
  const title = isUsual ? 'Waits' : code === 'ATTESTATION' ? '**Late**' : '**Held up**'
  const marked = failure ? ` The intent is marked as failed with ${failure}; the wait goes on.` : ''
  return `${title} since ${toldTime(new Date(since))} (\`${code}\`): ${message}${marked}`
}

function toldWait({ since, usualSeconds: [least, most] }: Awaited): string {
  const late = new Date(new Date(since).getTime() + PATIENCE * most * 1_000)
  const usually = `usually ${least} to ${most} seconds, late after ${toldTime(late)}`
  return `Waits since ${toldTime(new Date(since))} to be attested (\`ATTESTATION\`): ${usually}.`
}

function linesOf({ marks, current, end }: View, step: Step): string[] {
  const { sequence } = step
  const own = marks.filter((mark) => mark.sequence === sequence)
  const isCurrent = current?.sequence === sequence && end === undefined
  const since = isCurrent ? `: under way since ${toldTime(current.since)}` : ''
  return [`${sequence}. ${summaryOf(step)}${since}`, ...own.map((mark) => `   - ${toldMark(mark)}`)]
}

function toldMark({ what, chain, txHash, url }: Mark): string {
  return `${what} on ${chain}: ${url ? `[\`${txHash}\`](${url})` : `\`${txHash}\``}`
}

const toldTime = (time: Date) => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A step in a line, with its amount. */
export function summaryOf(step: Step): string {
  const { type, amount, asset, protocol } = step
  switch (type) {
    case 'deposit':
      return `deposit ${amount} ${asset} in ${protocol} on ${step.chain}`
    case 'withdraw':
      return `withdraw ${amount} ${asset} from ${protocol} on ${step.chain}`
    case 'swap':
      return `swap ${amount} ${asset} to ${step.toAsset} on ${step.chain}`
    case 'bridge':
      return `bridge ${amount} ${asset} from ${step.from} to ${step.to}`
  }
}
