import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/access.js'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { Delivery, Webhook } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { durationText, exactText } from '../../text/time.js'
import { Button } from '../../ui/forms/Button.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Facts } from '../../ui/values/Facts.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Id } from '../../ui/values/Id.js'
import { Time } from '../../ui/values/Time.js'
import { DeliveryState, errorText } from './words.js'

type Props = { webhook: Webhook; delivery: Delivery; onClose: () => void }

/** One delivery with its attempts and responses. */
export function DeliveryFacts({ webhook, delivery, onClose }: Props) {
  const { id, eventId, intentId, type, status, attempts, nextAttemptAt } = delivery
  return (
    <Dialog title={type} onClose={onClose}>
      <Facts
        of={[
          ['State', <DeliveryState key="state" status={status} />],
          [
            'Event',
            intentId ? (
              <Link
                to="/intents/$intentId"
                params={{ intentId }}
                hash={eventId}
                className="font-mono text-xs text-accent hover:underline"
              >
                {eventId}
              </Link>
            ) : (
              <Id key="event" id={eventId} label="event id" />
            ),
          ],
          [
            'Intent',
            intentId && (
              <Link
                key="intent"
                to="/intents/$intentId"
                params={{ intentId }}
                title={intentId}
                className="font-mono text-xs text-accent hover:underline"
              >
                {shorten(intentId)}
              </Link>
            ),
          ],
          ['Delivery', <Id key="id" id={id} label="delivery id" />],
          ['Next attempt', nextAttemptAt && <Time at={nextAttemptAt} />],
        ]}
      />
      <h3 className="mt-4 mb-2 text-sm">Attempts</h3>
      <ol aria-label="Attempts" className="max-h-72 space-y-3 overflow-y-auto text-sm">
        {attempts.map((attempt) => (
          <AttemptEntry key={attempt.at} attempt={attempt} />
        ))}
        {attempts.length === 0 && <li className="text-ink-3">No attempts yet.</li>}
      </ol>
      {useMay('write') && <Resend webhook={webhook} deliveryId={id} />}
    </Dialog>
  )
}

function Resend({ webhook, deliveryId }: { webhook: Webhook; deliveryId: string }) {
  const resend = useMutation({
    mutationFn: () => post<Delivery>(`/webhooks/${webhook.id}/deliveries/${deliveryId}/resend`),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
  })
  if (webhook.status === 'disabled') {
    return <p className="mt-4 text-sm text-ink-2">Enable the endpoint to send this event again.</p>
  }
  return (
    <>
      {resend.error && <Failure error={resend.error} />}
      <div className="mt-4 flex justify-end">
        <Button isBusy={resend.isPending} onClick={() => resend.mutate()}>
          Send again
        </Button>
      </div>
    </>
  )
}

function AttemptEntry({ attempt }: { attempt: Delivery['attempts'][number] }) {
  const { at, ms, status, error, body } = attempt
  return (
    <li>
      <p className="flex justify-between gap-4">
        <span className={error ? 'text-failed' : 'text-done'}>
          {status ?? 'No response'}
          {error && <span className="ml-2 text-ink-2">{errorText(attempt)}</span>}
        </span>
        <span title={exactText(new Date(at))} className="shrink-0 text-ink-3">
          {durationText(ms)}
        </span>
      </p>
      {body && (
        <pre
          tabIndex={0}
          className="mt-1 max-h-28 overflow-auto rounded-md border border-line bg-sunken p-2 text-xs whitespace-pre-wrap"
        >
          {body}
        </pre>
      )}
    </li>
  )
}
