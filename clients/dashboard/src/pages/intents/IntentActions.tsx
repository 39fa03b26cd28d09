import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { intentQuery } from '../../api/queries.js'
import type { Intent } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { Failure } from '../../ui/feedback/Failure.js'

/** Cancel or retry an intent, for members who may write. */
export function IntentActions({ intent }: { intent: Intent }) {
  if (!useMay('write')) return null
  const { status, error, retriedBy } = intent
  if (status === 'completed') return null
  if (status !== 'failed') return <Cancel intent={intent} />
  return error?.code === 'CANCELLED' || retriedBy ? null : <Retry intent={intent} />
}

function Cancel({ intent: { id } }: { intent: Intent }) {
  const [isAsking, setAsking] = useState(false)
  const cancel = useMutation({
    mutationFn: () => post<Intent>(`/intents/${id}/cancel`),
    onSuccess: (intent) => {
      queryClient.setQueryData(intentQuery(id).queryKey, intent)
      setAsking(false)
    },
  })
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Cancel intent
      </Button>
      {isAsking && (
        <Confirm
          title="Cancel this intent"
          sending={cancel}
          action="Cancel intent"
          onClose={() => setAsking(false)}
        >
          Steps that are not signed yet are not sent, and the money stays where it is. While a step
          is signed and unfinished, or the money is in the bridge, the intent continues.
        </Confirm>
      )}
    </>
  )
}

function Retry({ intent: { id } }: { intent: Intent }) {
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () => post<Intent>(`/intents/${id}/retry`),
    onSuccess: async (created) => {
      await navigate({ to: '/intents/$intentId', params: { intentId: created.id } })
    },
  })
  return (
    <div className="flex max-w-md flex-col items-end gap-2">
      <Button look="primary" isBusy={retry.isPending} onClick={() => retry.mutate()}>
        Retry from where the money is
      </Button>
      {retry.error && <Failure error={retry.error} />}
    </div>
  )
}
