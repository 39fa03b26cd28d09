import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { intentQuery } from '../../api/queries.js'
import type { DryRun, Intent } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { PlanFacts } from './PlanFacts.js'

/** The plan of a retry. Nothing is sent before the user confirms it. */
export function RetryPreview({ intentId, onClose }: { intentId: string; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const path = `/intents/${intentId}/retry`
  const preview = useQuery({
    queryKey: ['dryRun', 'retry', intentId],
    queryFn: () => post<DryRun | Intent>(`${path}?dryRun=true`),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  // One idempotency key per dialog: a double click retries once.
  const [key] = useState(() => crypto.randomUUID())
  const retry = useMutation({
    mutationFn: () => post<Intent>(path, {}, key),
    onSuccess: async (created) => {
      void queryClient.invalidateQueries(intentQuery(intentId))
      await navigate({ to: '/intents/$intentId', params: { intentId: created.id } })
    },
  })
  const { data, error } = preview
  return (
    <Dialog title="Retry this intent" onClose={onClose}>
      <div className="space-y-4 text-sm">
        <div className="max-h-[60dvh] overflow-y-auto" tabIndex={0} role="region" aria-label="Plan">
          {error ? (
            <Failure error={error} retry={() => void preview.refetch()} />
          ) : data ? (
            data.executionPlan && <PlanFacts plan={data.executionPlan} />
          ) : (
            <Skeleton lines={5} />
          )}
        </div>
        <p className="text-ink-2">
          The retry is a new intent. It continues from where the money is and costs 5 credits.
        </p>
        {retry.error && <Failure error={retry.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button
            look="primary"
            disabled={!data || retry.isSuccess}
            isBusy={retry.isPending}
            onClick={() => retry.mutate()}
          >
            Retry intent
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
