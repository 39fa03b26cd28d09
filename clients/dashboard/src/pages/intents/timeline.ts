import type { Intent, Step, Transaction } from '../../api/types.js'
import { chainText, namesIn, protocolText } from '../../text/names.js'
import { amountText } from '../../text/amount.js'
import type { StateName } from '../../ui/feedback/State.js'
import type { TimelineRow } from '../../ui/Timeline.js'

type StepPhase = NonNullable<Step['status']>
type BridgeOperation = NonNullable<Step['operations']>[number]

const states: Record<StepPhase, StateName> = {
  pending: 'open',
  waiting: 'waiting',
  executing: 'running',
  completed: 'done',
  failed: 'failed',
  cancelled: 'stopped',
}

/** Timeline rows of the steps in the order of execution. The parts of a bridge follow their step. */
export function timelineOf({ executionPlan, results, error }: Intent): TimelineRow[] {
  const transactions = results?.transactions ?? []
  return (executionPlan?.steps ?? []).flatMap((step) => {
    const own = transactions.filter((one) => one.step === step.sequence)
    const isFailed = error?.step === step.sequence
    const parts = (step.operations ?? []).map((part) => partRow(step, part, own))
    return [stepRow(step, own, isFailed ? error.message : undefined), ...parts]
  })
}

function stepRow(step: Step, own: Transaction[], failure: string | undefined): TimelineRow {
  const { sequence, status, waitingFor, operations } = step
  const hasParts = operations !== undefined && operations.length > 0
  return {
    key: String(sequence),
    state: status ? states[status] : 'open',
    title: stepText(step),
    place: step.chain ? chainText(step.chain) : undefined,
    ...spanOf(step),
    // A bridge shows the wait reason at the part that waits.
    ...(waitingFor && !hasParts && noteOf(waitingFor)),
    ...(failure !== undefined && { note: namesIn(failure) }),
    ...(!hasParts && linkOf(step.txHash, own)),
  }
}

function partRow(step: Step, part: BridgeOperation, own: Transaction[]): TimelineRow {
  const isWaiting = part.status === 'waiting' || part.status === 'executing'
  return {
    key: `${step.sequence}-${part.type}`,
    state: states[part.status],
    title: partTexts[part.type],
    place: part.type === 'attestation' ? undefined : chainText(part.chain),
    isPart: true,
    ...spanOf(part),
    ...(isWaiting && step.waitingFor && noteOf(step.waitingFor)),
    ...linkOf(part.txHash, own),
  }
}

const partTexts: Record<BridgeOperation['type'], string> = {
  burn: 'Burn',
  attestation: 'Attestation',
  mint: 'Mint',
}

type TimeSpan = Pick<BridgeOperation, 'startedAt' | 'endedAt'>

const spanOf = ({ startedAt, endedAt }: TimeSpan | Step) => ({
  ...(startedAt && { startedAt }),
  ...(endedAt && { endedAt }),
})

const noteOf = ({ message, since, usualSeconds }: NonNullable<Step['waitingFor']>) => ({
  ...{ note: namesIn(message), since },
  ...(usualSeconds !== undefined && { usualMs: usualSeconds * 1_000 }),
})

function linkOf(txHash: string | undefined, own: Transaction[]) {
  const transaction = own.find((one) => one.txHash === txHash)
  return {
    ...(txHash && { txHash }),
    ...(transaction && { costUsd: transaction.gasCostUsd }),
    ...(transaction?.explorerUrl && { href: transaction.explorerUrl }),
  }
}

/** The label of a step: `Deposit 0.9999 USDC into Aave v3`. */
export function stepText(step: Step): string {
  const { type, asset, to, toAsset, arrives } = step
  const amount = `${amountText(step.amount)} ${asset}`
  const protocol = step.protocol ? protocolText(step.protocol) : ''
  switch (type) {
    case 'bridge':
      return `Bridge ${amount} to ${chainText(to ?? '')}`
    case 'deposit':
      return `Deposit ${amount} into ${protocol}`
    case 'withdraw':
      return `Withdraw ${amount} from ${protocol}`
    case 'swap':
      return `Swap ${amount} to ${arrives ? `${amountText(arrives)} ` : ''}${toAsset ?? ''}`
  }
}
