import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { NewKeyAnswer } from '../../api/types.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { SelectField, TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'

const DAY_MS = 86_400_000

const scopes = [
  { value: 'read,write', label: 'Read and write' },
  { value: 'read', label: 'Read only' },
]
const expiryChoices = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

type Props = { onClose: () => void; onMade: (made: NewKeyAnswer) => void }

/** The form of a new key: name, scopes and expiry. */
export function NewKey({ onClose, onMade }: Props) {
  const [name, setName] = useState('')
  const [scope, setScope] = useState('read,write')
  const [days, setDays] = useState('')
  const create = useMutation({
    mutationFn: () => {
      const expiresAt = days && new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      const body = { name, scopes: scope.split(',') }
      return post<NewKeyAnswer>('/keys', expiresAt ? { ...body, expiresAt } : body)
    },
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: ['keys'] })
      onMade(made)
    },
  })
  return (
    <Dialog title="New API key" onClose={onClose}>
      <Form sending={create} action="Create key">
        <TextField
          label="Name"
          required
          autoFocus
          autoComplete="off"
          maxLength={100}
          hint="Where the key is used, such as “backend, staging”."
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label="Scopes"
          choices={scopes}
          value={scope}
          onChange={(event) => setScope(event.target.value)}
        />
        <SelectField
          label="Expires"
          choices={expiryChoices}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}
