import type { ExecutionPlan, Step } from './intent.js'
import { completionOf, type Effect } from './results.js'
import { waitingCodeOf, waitingMessage } from './waiting.js'
import type { IntentError, IntentStatus } from './intent.js'
import type { FundingStatus } from './funding.js'
import type { OperationKind, OperationState } from './operation.js'
import type { StopScope, WaitingCode, WaitingFor } from './waiting.js'

/** How far a step, or a part of it, is. */
export const stepStatuses = {
  pending: 'its turn has not come yet',
  waiting: 'it is its turn, and nothing of it is on its way: `waitingFor` says why',
  executing: 'its transaction is signed, and not confirmed yet',
  completed: 'it is confirmed',
  failed: 'it did not happen',
  cancelled: 'it was never begun, because the intent has ended before',
} as const
export type StepStatus = keyof typeof stepStatuses

/** What an operation's row tells of its part of a step. Times are ISO 8601, null while they have not come. */
export type StepOperation = {
  sequence: number
  kind: OperationKind
  chain: string
  state: OperationState
  success: boolean | null
  code: string | null
  message: string | null
  waitsFor: string | null
  isCarried: boolean
  stop: { scope: StopScope; since: string } | null
  txHash: string | null
  startedAt: string
  waitsSince: string | null
  signedAt: string | null
  minedAt: string | null
  endedAt: string | null
  changedAt: string | null
  /** Of a burn. */
  burnedAt: string | null
  attestedAt: string | null
}

/** A part of a bridge step. */
export type Part = {
  type: 'burn' | 'attestation' | 'mint'
  status: StepStatus
  chain: string
  startedAt?: string
  endedAt?: string
  txHash?: string
}

export type StepStory = {
  sequence: number
  status: StepStatus
  startedAt?: string
  endedAt?: string
  txHash?: string
  waitingFor?: WaitingFor
  operations?: Part[]
}

/** What is known of an intent beside its plan. */
export type Facts = {
  status: IntentStatus
  error: IntentError | null
  /** When the intent changed last, ISO 8601. */
  since: string
  operations: StepOperation[]
  effects: Effect[]
}

/** Seconds that something usually takes of a step, undefined where nobody can tell. */
export type Usual = (step: Step, code: WaitingCode, chain: string) => number | undefined

/** What happened of each step of a plan, in their order. */
export function tellSteps(plan: ExecutionPlan, facts: Facts, usual: Usual): StepStory[] {
  let since = facts.since
  let isReached = true
  return plan.steps.map((step) => {
    const story = tellStep(step, { ...facts, since, isReached }, usual)
    isReached &&= story.status === 'completed'
    since = story.endedAt ?? since
    return story
  })
}

/** `isReached`: all steps before are completed; since `since`. */
type StepFacts = Facts & { isReached: boolean }

function tellStep(step: Step, facts: StepFacts, usual: Usual): StepStory {
  const { sequence } = step
  const own = facts.operations.filter((one) => one.sequence === sequence)
  const isDone = completionOf(step, facts.effects) !== undefined
  const row = own.findLast(({ kind }) => kind === 'mint') ?? own[0]
  const waitingFor = isDone ? undefined : waitOf(step, { row, facts }, usual)
  const status = isDone ? 'completed' : statusOf(step, row, facts)
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled'
  const txHash = own.flatMap((one) => hashOf(one) ?? []).at(-1)
  return {
    sequence,
    status,
    ...optional('startedAt', own[0]?.startedAt),
    ...optional('endedAt', isOver ? row?.endedAt : undefined),
    ...optional('txHash', txHash),
    ...optional('waitingFor', waitingFor),
    ...(step.type === 'bridge' ? { operations: partsOf(step, own, status) } : {}),
  }
}

const optional = <Name extends string, Value>(name: Name, value: Value | null | undefined) =>
  (value === undefined || value === null ? {} : { [name]: value }) as { [K in Name]?: Value }

/** Only a block that counts makes a hash one that a reader finds. */
const hashOf = ({ state, txHash }: StepOperation) =>
  ['mined', 'confirmed', 'final'].includes(state) ? (txHash ?? undefined) : undefined

function statusOf(
  { sequence }: Step,
  row: StepOperation | undefined,
  { status, error, isReached }: StepFacts,
): StepStatus {
  if (row) return row.kind === 'bridge' && hasBurned(row) ? 'waiting' : operationStatus(row)
  if (status === 'failed') return error?.step === sequence ? 'failed' : 'cancelled'
  return status === 'executing' && isReached ? 'waiting' : 'pending'
}

const isConfirmed = ({ state }: StepOperation) => state === 'confirmed' || state === 'final'
const hasBurned = (burn: StepOperation) => isConfirmed(burn) && burn.success === true

function operationStatus(row: StepOperation): StepStatus {
  const { state, code, success, isCarried } = row
  switch (state) {
    case 'queued':
    case 'deferred':
      return 'waiting'
    case 'signed':
      return isCarried ? 'executing' : 'waiting'
    case 'mined':
      return 'executing'
    case 'confirmed':
    case 'final':
      return success ? 'completed' : 'failed'
    case 'rejected':
      return 'failed'
    case 'cancelled':
      return code === 'CANCELLED' ? 'cancelled' : 'failed'
  }
}

type Waiting = { row: StepOperation | undefined; facts: StepFacts }

function waitOf(step: Step, { row, facts }: Waiting, usual: Usual): WaitingFor | undefined {
  if (!row) {
    const isNext = facts.status === 'executing' && facts.isReached
    return isNext ? { ...said('SERVICE', ''), since: facts.since } : undefined
  }
  const { chain } = row
  const found = row.kind === 'bridge' && hasBurned(row) ? afterBurn(row) : beforeEnd(row)
  if (!found) return undefined
  const { code, since, message } = found
  return {
    ...said(code, chain),
    ...(message ? { message } : {}),
    since,
    ...optional('usualSeconds', usual(step, code, chain)),
  }
}

const said = (code: WaitingCode, chain: string) => ({ code, message: waitingMessage(code, chain) })

type Found = { code: WaitingCode; since: string; message?: string | null }

/** The money is in the bridge: attested, its mint is to be ordered. */
function afterBurn({ burnedAt, attestedAt, startedAt }: StepOperation): Found {
  if (attestedAt) return { code: 'SERVICE', since: attestedAt }
  return { code: 'ATTESTATION', since: burnedAt ?? startedAt }
}

function beforeEnd(row: StepOperation): Found | undefined {
  const code = waitingCodeOf({ ...row, stop: row.stop?.scope })
  if (!code) return undefined
  // What the chain or the market has said is more than the code can say.
  const message = code === 'MARKET_ROOM' || code === 'REFUSED' ? row.message : undefined
  return { code, since: sinceOf(row, code), ...optional('message', message) }
}

function sinceOf(row: StepOperation, code: WaitingCode): string {
  const { stop, startedAt, waitsSince, changedAt } = row
  if (code === 'PAUSED' || code === 'FROZEN') return latest([stop?.since, startedAt]) ?? startedAt
  return inFlightSince(row, code) ?? waitsSince ?? changedAt ?? startedAt
}

function inFlightSince({ signedAt, minedAt }: StepOperation, code: WaitingCode): string | null {
  if (code === 'CONFIRMATIONS') return minedAt
  return code === 'MINING' || code === 'RESENDING' ? signedAt : null
}

type Bridge = Extract<Step, { type: 'bridge' }>

/** The parts of a bridge, those that have not begun among them. */
function partsOf({ from, to }: Bridge, own: StepOperation[], whole: StepStatus): Part[] {
  const burn = own.find(({ kind }) => kind === 'bridge')
  const mint = own.find(({ kind }) => kind === 'mint')
  const isOver = whole === 'cancelled' || whole === 'failed'
  const unbegun = isOver ? 'cancelled' : 'pending'
  return [
    // Where nothing was ordered the burn is what its step is.
    partOf('burn', burn, { chain: from, status: whole }),
    attestationOf({ burn, mint }, { chain: from, status: unbegun }),
    partOf('mint', mint, { chain: to, status: unbegun }),
  ]
}

type Unbegun = Pick<Part, 'chain' | 'status'>

function attestationOf(
  { burn, mint }: Record<'burn' | 'mint', StepOperation | undefined>,
  unbegun: Unbegun,
): Part {
  const part = { type: 'attestation', ...unbegun } as const
  const began = optional('startedAt', burn?.burnedAt)
  const attestedAt = burn?.attestedAt ?? mint?.startedAt
  if (attestedAt) return { ...part, status: 'completed', ...began, endedAt: attestedAt }
  return burn && hasBurned(burn) ? { ...part, status: 'waiting', ...began } : part
}

function partOf(type: 'burn' | 'mint', row: StepOperation | undefined, unbegun: Unbegun): Part {
  if (!row) return { type, ...unbegun }
  const status = operationStatus(row)
  const isOver = status !== 'waiting' && status !== 'executing'
  return {
    type,
    status,
    chain: unbegun.chain,
    startedAt: row.startedAt,
    ...optional('endedAt', isOver ? row.endedAt : undefined),
    ...optional('txHash', hashOf(row)),
  }
}

/** How far a funding is, by the operation that pays it. `message` tells why it has failed. */
export function tellFunding(row: StepOperation | undefined): {
  status: FundingStatus
  txHash?: string
  waitingFor?: WaitingFor
  message?: string
  endedAt?: string
} {
  if (!row) return { status: 'pending' }
  const txHash = optional('txHash', hashOf(row))
  const found = beforeEnd(row)
  if (found) {
    return {
      status: 'pending',
      ...txHash,
      waitingFor: { ...said(found.code, row.chain), since: found.since },
    }
  }
  const isPaid = isConfirmed(row) && row.success === true
  const end = optional('endedAt', row.endedAt)
  if (isPaid) return { status: 'completed', ...txHash, ...end }
  return { status: 'failed', ...txHash, ...end, message: row.message ?? 'It could not be sent.' }
}

/** The last of some times, whatever their zone; undefined when there is none. */
function latest(times: (string | null | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== null && time !== undefined)
  return known.reduce<string | undefined>(
    (last, time) => (last === undefined || Date.parse(time) > Date.parse(last) ? time : last),
    undefined,
  )
}

/** When anything of an intent changed last. */
export const lastChange = (since: string, operations: StepOperation[]): string =>
  latest([
    since,
    ...operations.flatMap((one) => [one.startedAt, one.changedAt, one.waitsSince, one.attestedAt]),
  ]) ?? since
