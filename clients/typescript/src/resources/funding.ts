import type { Known } from '../known.js'
import type { WaitingFor } from './intent.js'

/** Test money for a wallet: 1 USDC on arbitrum-sepolia. */
export type Funding = {
  id: string
  walletId: string
  status: Known<'pending' | 'completed' | 'failed'>
  chain: string
  alias: string
  asset: string
  amount: number
  waitingFor?: WaitingFor
  txHash?: string
  explorerUrl?: string
  error?: { code: Known<'FUNDING_FAILED'>; message: string }
  createdAt: string
  endedAt?: string
}
