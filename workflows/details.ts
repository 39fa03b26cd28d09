import type { StepPlan, PlanStep } from '../domain/intent/intent.js'
import type { WaitReason } from '../domain/intent/waitReason.js'

/** A finished operation. `what`: past participle, such as `deposited`. `url`: explorer page of the transaction. */
export type Mark = { sequence: number; what: string; chain: string; txHash: string; url?: string }

/** The state of an intent as the Temporal UI shows it. */
export type View = {
  plan?: StepPlan | undefined
  marks: Mark[]
  /** The current step and its start time. */
  current?: { sequence: number; since: Date }
  waitsFor?: WaitReason | undefined
  /** Final status, with the failure. */
  end?: string
}

/** Renders the view as Markdown. */
export function toMarkdown(view: View): string {
  const { plan, end } = view
  const steps = plan?.steps.flatMap((step) => linesOf(view, step)) ?? []
  const parts = [end ? `**${end}**` : nowOf(view), plan?.reasoning, steps.join('\n')]
  return parts.filter(Boolean).join('\n\n')
}

function nowOf({ plan, waitsFor }: View): string | undefined {
  if (!plan) return 'Waits for its plan. No chain answered when the intent was created.'
  if (!waitsFor) return undefined
  const { code, message, since, failure } = waitsFor
  const marked = failure
    ? ` The intent is marked as failed with ${failure}. The wait continues.`
    : ''
  return `**Waits** since ${timeText(new Date(since))} (\`${code}\`): ${message}${marked}`
}

function linesOf({ marks, current, end }: View, step: PlanStep): string[] {
  const { sequence } = step
  const own = marks.filter((mark) => mark.sequence === sequence)
  const isCurrent = current?.sequence === sequence && end === undefined
  const since = isCurrent ? `: running since ${timeText(current.since)}` : ''
  return [`${sequence}. ${summaryOf(step)}${since}`, ...own.map((mark) => `   - ${markText(mark)}`)]
}

function markText({ what, chain, txHash, url }: Mark): string {
  return `${what} on ${chain}: ${url ? `[\`${txHash}\`](${url})` : `\`${txHash}\``}`
}

const timeText = (time: Date) => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** One line that describes a step with its amount. */
export function summaryOf(step: PlanStep): string {
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
