import type { StepPlan, PlanStep } from '../../domain/intent/intent.js'

const target = 'arbitrum-sepolia'
const market = '0x0000000000000000000000000000000000000001'

const planOf = (strategy: StepPlan['strategy'], steps: PlanStep[]): StepPlan => ({
  ...{ strategy, steps, targetChain: target, targetProtocol: 'aave-v3', expectedApy: 3.5 },
  ...{ estimatedGasUsd: 0.5, estimatedTime: '1-5 seconds' },
  reasoning: 'aave-v3 on arbitrum-sepolia pays 3.50 % on USDC.',
})

const deposit = (sequence: number, asset = 'USDC'): PlanStep => ({
  ...{ type: 'deposit', chain: target, protocol: 'aave-v3', market },
  ...{ sequence, asset, amount: '1' },
})
const bridge: PlanStep = {
  ...{ type: 'bridge', sequence: 1, protocol: 'cctp', asset: 'USDC', amount: '1' },
  ...{ from: 'base-sepolia', to: target, speed: 'fast', maxFee: '0.01', arrives: '0.99' },
}
const swap = (toAsset: string): PlanStep => ({
  ...{ type: 'swap', sequence: 2, chain: target, protocol: 'uniswap-v3', toAsset },
  ...{ asset: toAsset === 'USDC' ? 'TUSD' : 'USDC', amount: '0.99' },
  ...{ arrives: '0.98', minimum: '0.97' },
})
const withdraw: PlanStep = {
  ...{ type: 'withdraw', sequence: 1, chain: target, protocol: 'aave-v3', market },
  ...{ asset: 'TUSD', amount: '1' },
}

export const lendPlan = planOf('direct-deposit', [deposit(1)])
export const bridgedPlan = planOf('single-bridge', [bridge, deposit(2)])
export const bridgedSwapPlan = planOf('single-bridge', [bridge, swap('TUSD'), deposit(3, 'TUSD')])
export const withdrawPlan = planOf('direct-withdraw', [withdraw, swap('USDC')])
