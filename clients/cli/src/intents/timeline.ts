import type { Event, Intent, Step } from '@steward/sdk'

/** The progress of a followed intent: its plan, updated by events. */

export type StepState = 'waiting' | 'running' | 'completed' | 'failed'
export type StepView = {
  sequence: number
  text: string
  state: StepState
  /** What the step is doing or waiting for. */
  note?: string | undefined
  txHash?: string
  startedAt?: number
  endedAt?: number
}
export type Timeline = { status: string; steps: StepView[] }

export function beginTimeline({ status, executionPlan }: Intent): Timeline {
  return { status, steps: (executionPlan?.steps ?? []).map(beginStep) }
}

function beginStep(step: Step): StepView {
  const { sequence, status, txHash, startedAt, endedAt } = step
  return {
    ...{ sequence, text: describeStep(step), state: stateOf(status) },
    ...(txHash && { txHash }),
    ...(startedAt && { startedAt: Date.parse(startedAt) }),
    ...(endedAt && { endedAt: Date.parse(endedAt) }),
    ...(step.waitingFor && { note: step.waitingFor.message }),
  }
}

function stateOf(status: string | undefined): StepState {
  if (status === 'completed' || status === 'failed') return status
  return status === undefined || status === 'pending' || status === 'cancelled'
    ? 'waiting'
    : 'running'
}

/** `bridge 1 USDC from arbitrum-sepolia to base-sepolia`. */
function describeStep({ type, amount, asset, from, to, chain, protocol, toAsset }: Step): string {
  const what = `${type} ${amount} ${asset}`
  if (from !== undefined) return `${what} from ${from} to ${to}`
  const into = toAsset ? ` to ${toAsset}` : ''
  return `${what}${into}${protocol ? ` ${sides[type] ?? 'on'} ${protocol}` : ''} on ${chain}`
}

const sides: Record<string, string> = { deposit: 'into', withdraw: 'from' }

/** The timeline with one more event. An unknown event type changes nothing. */
export function applyEvent(timeline: Timeline, event: Event): Timeline {
  const { type, data } = event
  const status = typeof data.status === 'string' ? data.status : timeline.status
  const steps = timeline.steps.map((step) =>
    step.sequence === data.step ? applyToStep(step, event) : applyDelay(step, type, data),
  )
  return { status, steps }
}

function applyToStep(step: StepView, { type, timestamp, data }: Event): StepView {
  const at = Date.parse(timestamp)
  const hash = typeof data.txHash === 'string' ? { txHash: data.txHash } : {}
  const bare = { ...step, note: undefined }
  switch (type) {
    case 'intent.step_started': {
      const doing = data.kind === 'mint' ? { note: 'attested, minting' } : {}
      return { ...bare, ...doing, state: 'running', startedAt: step.startedAt ?? at }
    }
    case 'intent.step_progressed':
      return { ...bare, ...hash, note: 'burned, waiting for attestation' }
    case 'intent.step_completed':
      return { ...bare, ...hash, state: 'completed', endedAt: at }
    case 'intent.step_failed':
      return { ...bare, ...hash, state: 'failed', endedAt: at, ...reasonOf(data) }
    case 'intent.step_reverted':
      return { ...bare, state: 'running', note: 'reverted by a reorg, resubmitting' }
    default:
      return step
  }
}

const reasonOf = ({ code }: Record<string, unknown>) =>
  typeof code === 'string' ? { note: code } : {}

function applyDelay(step: StepView, type: string, data: Record<string, unknown>): StepView {
  if (step.state !== 'running') return step
  if (type === 'intent.delay_over') return { ...step, note: undefined }
  const { message } = (data.delay ?? {}) as { message?: unknown }
  return type === 'intent.delayed' && typeof message === 'string'
    ? { ...step, note: message }
    : step
}

/** The result or the progress of an intent, in one sentence. */
export function describeIntent(intent: Intent): string {
  const { action, amount, asset, status, error } = intent
  if (status === 'completed') return describeDone(intent)
  if (status === 'failed')
    return `${error?.code ?? 'FAILED'}: ${error?.message ?? 'no reason given'}`
  return `${action} ${amount} ${asset}: ${status}`
}

const pastTense: Record<string, string> = { lend: 'Lent', withdraw: 'Withdrew', bridge: 'Bridged' }

function describeDone({ action, amount, asset, executionPlan, results }: Intent): string {
  const what = `${pastTense[action] ?? action} ${results?.finalAmount ?? amount} ${asset}`
  const place = executionPlan ? ` on ${executionPlan.targetChain}` : ''
  const rate = results?.apy === undefined ? '' : ` at ${results.apy.toFixed(2)} %`
  return `${what}${place}${rate}`
}

/** Where the money is, one line per place: `1 USDC on arbitrum-sepolia`. */
export const describeFunds = ({ funds, error }: Intent): string[] =>
  (error?.funds ?? funds ?? []).map(
    ({ amount, asset, chain, protocol }) =>
      `${amount} ${asset} ${chain === 'bridge' ? 'in the bridge' : `on ${chain}`}` +
      (protocol ? `, lent to ${protocol}` : ''),
  )
