import { hashOf, isConfirmed, optional, waitOfOperation, waitReason } from './stepOperation.js'
import type { StepOperation } from './stepOperation.js'
import type { WaitingFor } from './waiting.js'

/** The most fundings per day, of one wallet and of one account. 0: unlimited. */
export type FundingLimits = { perWallet: number; perAccount: number }

/** Status of a funding. */
export const fundingStatuses = ['pending', 'completed', 'failed'] as const
export type FundingStatus = (typeof fundingStatuses)[number]

/** What `POST /v1/demo/fund` sends: exactly 1 USDC (6 decimals) on arbitrum-sepolia. */
export const demoFunding = { chain: 'arbitrum-sepolia', asset: 'USDC', units: 1_000_000n } as const

/** Status of a funding, from the operation that pays it. `message` states why it failed. */
export function fundingProgress(row: StepOperation | undefined): {
  status: FundingStatus
  txHash?: string
  waitingFor?: WaitingFor
  message?: string
  endedAt?: string
} {
  if (!row) return { status: 'pending' }
  const txHash = optional('txHash', hashOf(row))
  const wait = waitOfOperation(row)
  if (wait) {
    return {
      status: 'pending',
      ...txHash,
      waitingFor: { ...waitReason(wait.code, row.chain), since: wait.since },
    }
  }
  const isPaid = isConfirmed(row) && row.success === true
  const end = optional('endedAt', row.endedAt)
  if (isPaid) return { status: 'completed', ...txHash, ...end }
  return {
    status: 'failed',
    ...txHash,
    ...end,
    message: row.message ?? 'The transfer could not be sent.',
  }
}
