import type { DryRun } from '../../api/types.js'
import { aboutUsd, percentText } from '../../text/amount.js'
import { chainText, marketText, namesIn } from '../../text/names.js'
import { Facts } from '../../ui/values/Facts.js'
import { Section } from '../../ui/PageHead.js'
import { Warnings } from './Options.js'
import { stepText } from './timeline.js'

/** Steps, return, costs and reasons of a plan that is not executed yet. */
export function PlanFacts({ plan }: { plan: DryRun['executionPlan'] }) {
  const { steps, expectedApy, reasoning } = plan
  return (
    <>
      <Warnings plan={plan} />
      <Section title="What would happen">
        <ol className="text-sm">
          {steps.map((step) => (
            <li
              key={step.sequence}
              className="flex min-h-10 items-center gap-3 border-b border-line py-2"
            >
              <span className="w-4 text-right text-ink-3">{step.sequence}</span>
              <span className="flex-1">{stepText(step)}</span>
              <span className="text-ink-3">{chainText(step.chain ?? step.from ?? '')}</span>
            </li>
          ))}
        </ol>
      </Section>
      <Section title="Return and costs">
        <Facts
          of={[
            ['Destination', marketText({ protocol: plan.targetProtocol, chain: plan.targetChain })],
            ['Current rate', expectedApy !== undefined && percentText(expectedApy)],
            ['Gas, paid by the service', aboutUsd(plan.estimatedGasUsd)],
            ['Estimated time', plan.estimatedTime],
          ]}
        />
      </Section>
      <Section title="Why">
        <p className="max-w-2xl text-sm text-ink-2">{namesIn(reasoning)}</p>
      </Section>
    </>
  )
}
