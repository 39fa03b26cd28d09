import { aliasOf } from '../../../evm/registry.js'
import type { PlanStep, StepPlan } from '../../../domain/intent/intent.js'
import type { StepTimeline } from '../../../domain/intent/timeline.js'

/** The public fields of a plan, with the alias of each chain and the state of each step. */
export function planBody(plan: StepPlan, timelines: StepTimeline[] | null) {
  const { targetChain, steps, alternatives, ...fields } = plan
  return {
    ...{ ...fields, targetChain, targetAlias: aliasOf(targetChain) },
    steps: steps.map((step, i) => ({ ...stepBody(step), ...timelines?.[i] })),
    ...(alternatives && { alternatives: alternatives.map(withAlias) }),
  }
}

const withAlias = <T extends { chain: string }>(body: T) => ({
  ...body,
  alias: aliasOf(body.chain),
})

function stepBody(step: PlanStep) {
  const { type, sequence, protocol, asset, amount } = step
  switch (type) {
    case 'deposit':
    case 'withdraw':
      return withAlias({ type, sequence, chain: step.chain, protocol, asset, amount })
    case 'bridge': {
      const { from, to, speed, maxFee, arrives } = step
      const aliases = { fromAlias: aliasOf(from), toAlias: aliasOf(to) }
      return {
        type,
        sequence,
        from,
        to,
        ...aliases,
        protocol,
        asset,
        amount,
        speed,
        maxFee,
        arrives,
      }
    }
    case 'swap': {
      const { chain, toAsset, arrives, minimum } = step
      return withAlias({
        type,
        sequence,
        chain,
        protocol,
        asset,
        amount,
        toAsset,
        arrives,
        minimum,
      })
    }
  }
}
