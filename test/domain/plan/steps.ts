import type {
  BridgeStep,
  DepositStep,
  StepPlan,
  PlanStep,
  SwapStep,
  WithdrawStep,
} from '../../../domain/intent/intent.js'
import type { Effect } from '../../../domain/intent/results.js'

const market = '0x01'

export const deposit = (sequence: number, chain: string, changes: Partial<DepositStep> = {}) => ({
  ...{ type: 'deposit' as const, sequence, chain, protocol: 'aave-v3', market },
  ...{ asset: 'USDC', amount: '1', ...changes },
})
export const withdraw = (sequence: number, chain: string, changes: Partial<WithdrawStep> = {}) => ({
  ...{ type: 'withdraw' as const, sequence, chain, protocol: 'aave-v3', market },
  ...{ asset: 'USDC', amount: '1', ...changes },
})
export const bridge = (
  sequence: number,
  from: string,
  to: string,
  changes: Partial<BridgeStep> = {},
) => ({
  ...{ type: 'bridge' as const, sequence, from, to, protocol: 'cctp', speed: 'fast' as const },
  ...{ asset: 'USDC', amount: '1', arrives: '0.9999', maxFee: '0.00012', ...changes },
})
export const swap = (sequence: number, chain: string, changes: Partial<SwapStep> = {}) => ({
  ...{ type: 'swap' as const, sequence, chain, protocol: 'uniswap-v3', asset: 'USDC' },
  ...{ toAsset: 'TUSD', amount: '1', arrives: '0.9994', minimum: '0.99', ...changes },
})

export const planOf = (...steps: PlanStep[]): StepPlan => {
  const last = steps.at(-1)
  return {
    strategy: 'direct-deposit',
    targetChain: last?.type === 'bridge' ? last.to : (last?.chain ?? ''),
    ...{ steps, estimatedGasUsd: 1, estimatedTime: '1-5 seconds', reasoning: '' },
  }
}

/** A confirmed success with an output in base units. */
export const effect = (
  sequence: number,
  kind: Effect['kind'],
  units: bigint,
  changes: Partial<Effect> = {},
): Effect => ({
  ...{ sequence, kind, units, chain: '', confirmed: true, success: true, txHash: '0x' },
  ...{ gasUsed: 1n, gasCostUsd: 0, ...changes },
})
