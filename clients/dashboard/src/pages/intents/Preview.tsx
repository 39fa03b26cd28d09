import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { post } from '../../api/call.js'
import type { DryRun } from '../../api/types.js'
import { aboutUsd, percentText } from '../../text/amount.js'
import { chainText, marketText, namesIn } from '../../text/names.js'
import { Facts } from '../../ui/values/Facts.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Alternatives, Warnings } from './Options.js'
import { stepText } from './timeline.js'

/** Debounce time of the form. */
const PAUSE_MS = 350

/** Loads the preview of a request when the user stops typing. */
export function usePreview(request: Record<string, string> | undefined) {
  const [settled, setSettled] = useState(request)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(request), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [request])
  return useQuery({
    queryKey: ['dryRun', settled],
    queryFn: () => post<DryRun>('/intents?dryRun=true', settled),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
}

type Props = { request: Record<string, string> | undefined; preview: UseQueryResult<DryRun> }

/** The plan of a dry run: steps, costs and reasons. */
export function Preview({ request, preview: { data, error, isFetching, refetch } }: Props) {
  if (!request) {
    return (
      <div className="border-y border-line py-10 text-sm text-ink-3">
        The plan appears here when wallet, amount and chain are chosen. Nothing is sent or charged
        until you press the button.
      </div>
    )
  }
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton lines={6} />
  return (
    <div className={`transition-opacity ${isFetching ? 'opacity-60' : ''}`} aria-busy={isFetching}>
      <Plan plan={data.executionPlan} />
    </div>
  )
}

function Plan({ plan }: { plan: DryRun['executionPlan'] }) {
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
      <Alternatives plan={plan} />
    </>
  )
}
