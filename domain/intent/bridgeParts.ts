import {
  hasBurned,
  hashOf,
  operationStatus,
  optional,
  type StepOperation,
  type StepStatus,
} from './stepOperation.js'
import type { BridgeStep } from './intent.js'

/** A part of a bridge step. */
export type BridgePart = {
  type: 'burn' | 'attestation' | 'mint'
  status: StepStatus
  chain: string
  startedAt?: string
  endedAt?: string
  txHash?: string
}

/** All parts of a bridge step, including those that have not started. */
export function partsOf(
  { from, to }: BridgeStep,
  own: StepOperation[],
  whole: StepStatus,
): BridgePart[] {
  const burn = own.find(({ kind }) => kind === 'bridge')
  const mint = own.find(({ kind }) => kind === 'mint')
  const isEnded = whole === 'cancelled' || whole === 'failed'
  const notStarted = isEnded ? 'cancelled' : 'pending'
  return [
    // Without an ordered operation, the burn has the status of its step.
    partOf('burn', burn, { chain: from, status: whole }),
    attestationOf({ burn, mint }, { chain: from, status: notStarted }),
    partOf('mint', mint, { chain: to, status: notStarted }),
  ]
}

type NotStarted = Pick<BridgePart, 'chain' | 'status'>

function attestationOf(
  { burn, mint }: Record<'burn' | 'mint', StepOperation | undefined>,
  notStarted: NotStarted,
): BridgePart {
  const part = { type: 'attestation', ...notStarted } as const
  const started = optional('startedAt', burn?.burnedAt)
  const attestedAt = burn?.attestedAt ?? mint?.startedAt
  if (attestedAt) return { ...part, status: 'completed', ...started, endedAt: attestedAt }
  return burn && hasBurned(burn) ? { ...part, status: 'waiting', ...started } : part
}

function partOf(
  type: 'burn' | 'mint',
  row: StepOperation | undefined,
  notStarted: NotStarted,
): BridgePart {
  if (!row) return { type, ...notStarted }
  const status = operationStatus(row)
  const isEnded = status !== 'waiting' && status !== 'executing'
  return {
    type,
    status,
    chain: notStarted.chain,
    startedAt: row.startedAt,
    ...optional('endedAt', isEnded ? row.endedAt : undefined),
    ...optional('txHash', hashOf(row)),
  }
}
