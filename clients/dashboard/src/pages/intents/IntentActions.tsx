import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { intentQuery } from '../../api/queries.js'
import type { Intent } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { exactText } from '../../text/time.js'
import { RetryPreview } from './RetryPreview.js'

/** The action that is possible now for this member: cancel or retry. */
export function IntentActions({ intent }: { intent: Intent }) {
  const { actions, retryFrom } = intent
  if (!useMay('write')) return null
  if (actions.includes('cancel')) return <Cancel intent={intent} />
  if (actions.includes('retry')) return <Retry intent={intent} />
  return retryFrom ? <RetryLater at={retryFrom} /> : null
}

function RetryLater({ at }: { at: string }) {
  return (
    <p className="text-sm text-ink-2">
      A retry is possible from <time dateTime={at}>{exactText(new Date(at))}</time>.
    </p>
  )
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
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button look="primary" onClick={() => setAsking(true)}>
        Retry from where the money is
      </Button>
      {isAsking && <RetryPreview intentId={id} onClose={() => setAsking(false)} />}
    </>
  )
}
