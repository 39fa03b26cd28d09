import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ban, KeyRound, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { webhookQuery } from '../../api/queries.js'
import type { Delivery, RotatedSecret, Webhook } from '../../api/types.js'
import { exactText } from '../../text/time.js'
import { Actions } from '../../ui/forms/Actions.js'
import { Button } from '../../ui/forms/Button.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { Notice } from '../../ui/feedback/Notice.js'
import { ShownSecret } from './ShownSecret.js'
import { WebhookForm } from './WebhookForm.js'

const refresh = () => queryClient.invalidateQueries({ queryKey: ['webhooks'] })

type EndpointDialog = 'change' | 'rotate' | 'disable' | 'delete'

/** The actions on an endpoint, for members who may write. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [asking, setAsking] = useState<EndpointDialog>()
  const close = () => setAsking(undefined)
  const isEnabled = webhook.status === 'enabled'
  const entry = (what: EndpointDialog, label: string, Icon: typeof Ban) => ({
    ...{ label, icon: <Icon aria-hidden className="size-4" /> },
    onSelect: () => setAsking(what),
  })
  return (
    <>
      {isEnabled ? <SendTest webhook={webhook} /> : <Enable webhook={webhook} />}
      <Actions
        label="this endpoint"
        entries={[
          entry('change', 'Change …', Pencil),
          entry('rotate', 'Rotate secret …', KeyRound),
          ...(isEnabled ? [entry('disable', 'Disable …', Ban)] : []),
          entry('delete', 'Delete …', Trash2),
        ]}
      />
      {asking === 'change' && <WebhookForm webhook={webhook} onClose={close} onDone={close} />}
      {asking === 'rotate' && <Rotate webhook={webhook} onClose={close} />}
      {asking === 'disable' && <Disable webhook={webhook} onClose={close} />}
      {asking === 'delete' && <Delete webhook={webhook} onClose={close} />}
    </>
  )
}

function SendTest({ webhook: { id } }: { webhook: Webhook }) {
  const send = useMutation({
    mutationFn: () => post<Delivery>(`/webhooks/${id}/test`),
    onSuccess: refresh,
  })
  return (
    <>
      <Button look="primary" isBusy={send.isPending} onClick={() => send.mutate()}>
        Send a test event
      </Button>
      {send.error && <Notice isBad>{send.error.message}</Notice>}
    </>
  )
}

/** Sets the status of an endpoint and caches the updated endpoint. */
const useStatus = (id: string, status: Webhook['status'], onDone: () => void = () => undefined) =>
  useMutation({
    mutationFn: () => post<Webhook>(`/webhooks/${id}`, { status }),
    onSuccess: (webhook) => {
      queryClient.setQueryData(webhookQuery(id).queryKey, webhook)
      void refresh()
      onDone()
    },
  })

function Enable({ webhook: { id } }: { webhook: Webhook }) {
  const enable = useStatus(id, 'enabled')
  return (
    <>
      <Button look="primary" isBusy={enable.isPending} onClick={() => enable.mutate()}>
        Enable
      </Button>
      {enable.error && <Notice isBad>{enable.error.message}</Notice>}
    </>
  )
}

type Props = { webhook: Webhook; onClose: () => void }

function Disable({ webhook, onClose }: Props) {
  const disable = useStatus(webhook.id, 'disabled', onClose)
  return (
    <Confirm title="Disable endpoint" sending={disable} action="Disable" onClose={onClose}>
      No events are sent until the endpoint is enabled again. Missed events are not sent later; read
      them from <code>/v1/events</code>.
    </Confirm>
  )
}

function Delete({ webhook: { id, url }, onClose }: Props) {
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => post(`/webhooks/${id}/delete`),
    onSuccess: async () => {
      await navigate({ to: '/webhooks' })
      queryClient.removeQueries({ queryKey: webhookQuery(id).queryKey })
      await refresh()
    },
  })
  return (
    <Confirm title="Delete endpoint" sending={remove} action="Delete endpoint" onClose={onClose}>
      No more events are sent to <span className="wrap-anywhere">{url}</span>, and its deliveries
      are deleted. This cannot be undone.
    </Confirm>
  )
}

const GRACE_HOURS = 24

function Rotate({ webhook: { id }, onClose }: Props) {
  const rotate = useMutation({
    mutationFn: () =>
      post<RotatedSecret>(`/webhooks/${id}/rotate-secret`, { graceHours: GRACE_HOURS }),
  })
  if (rotate.data?.secret) {
    const until = exactText(new Date(rotate.data.previousUntil))
    const note = `The previous secret signs too until ${until}.`
    return (
      <ShownSecret title="New secret" secret={rotate.data.secret} note={note} onClose={onClose} />
    )
  }
  return (
    <Confirm
      title="Rotate secret"
      sending={rotate}
      action="Create new secret"
      isHarmless
      onClose={onClose}
    >
      For {GRACE_HOURS} hours each event is signed with both secrets, so that you can deploy the new
      one. An older secret expires at once.
    </Confirm>
  )
}
