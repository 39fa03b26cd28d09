import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { post } from '../../../api/call.js'
import type { DryRun } from '../../../api/types.js'
import { Failure } from '../../../ui/feedback/Failure.js'
import { Skeleton } from '../../../ui/feedback/Skeleton.js'
import { Alternatives } from '../Options.js'
import { PlanFacts } from '../PlanFacts.js'

/** Debounce time of the form. */
const PAUSE_MS = 350

/** Loads the preview of a request when the user stops typing. `isCurrent`: it is that of this request. */
export function usePreview(request: Record<string, string> | undefined) {
  const [settled, setSettled] = useState(request)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(request), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [request])
  const preview = useQuery({
    queryKey: ['dryRun', settled],
    queryFn: () => post<DryRun>('/intents?dryRun=true', settled),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const isCurrent = settled === request && !preview.isPlaceholderData && !preview.isLoading
  return { ...preview, isCurrent }
}

type Props = {
  request: Record<string, string> | undefined
  preview: Pick<UseQueryResult<DryRun>, 'data' | 'error' | 'isFetching' | 'refetch'>
}

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
      <PlanFacts plan={data.executionPlan} />
      <Alternatives plan={data.executionPlan} />
    </div>
  )
}
