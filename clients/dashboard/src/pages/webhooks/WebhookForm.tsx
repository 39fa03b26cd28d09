import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { eventTypes } from '../../api/eventTypes.js'
import type { CreatedWebhook, Webhook } from '../../api/types.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { SelectField, TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'

type Props = {
  /** The endpoint to change. Absent for a new one. */
  webhook?: Webhook
  onClose: () => void
  onDone: (webhook: CreatedWebhook) => void
}

const ALL = '*'
const kinds = [
  { value: 'all', label: 'All, including future types' },
  { value: 'some', label: 'Selected types' },
]

/** The form of an endpoint: URL, note and event types. */
export function WebhookForm({ webhook, onClose, onDone }: Props) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? [ALL])
  const save = useMutation({
    mutationFn: () =>
      post<CreatedWebhook>(webhook ? `/webhooks/${webhook.id}` : '/webhooks', {
        ...{ url, description },
        events,
      }),
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      onDone(saved)
    },
  })
  const isAll = events.includes(ALL)
  return (
    <Dialog title={webhook ? 'Change endpoint' : 'New endpoint'} onClose={onClose}>
      <Form sending={save} action={webhook ? 'Save' : 'Create endpoint'}>
        <TextField
          label="URL"
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          placeholder="https://example.com/hooks/steward"
          hint="A public https address. Redirects are not followed."
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <TextField
          label="Note"
          autoComplete="off"
          maxLength={200}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <SelectField
          label="Events"
          choices={kinds}
          value={isAll ? 'all' : 'some'}
          onChange={({ target }) => setEvents(target.value === 'all' ? [ALL] : defaultTypes)}
        />
        {!isAll && <Types chosen={events} onChange={setEvents} />}
      </Form>
    </Dialog>
  )
}

/** Preselected event types. */
const defaultTypes: readonly string[] = ['intent.completed', 'intent.failed']

function Types({
  chosen,
  onChange,
}: {
  chosen: readonly string[]
  onChange: (types: readonly string[]) => void
}) {
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, type] : chosen.filter((one) => one !== type))
  return (
    <fieldset className="grid max-h-56 grid-cols-2 gap-x-4 overflow-y-auto rounded-md border border-line p-3 max-sm:grid-cols-1">
      <legend className="sr-only">Types of events</legend>
      {eventTypes.map((type) => (
        <label key={type} className="flex h-7 items-center gap-2 text-xs">
          <input
            type="checkbox"
            className="size-3.5 accent-accent-fill"
            checked={chosen.includes(type)}
            onChange={({ target }) => toggle(type, target.checked)}
          />
          <span className="truncate">{type}</span>
        </label>
      ))}
    </fieldset>
  )
}
