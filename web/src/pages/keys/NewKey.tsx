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
const lives = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

type Props = { onClose: () => void; onMade: (made: NewKeyAnswer) => void }

/** What a new key is called, what it may do, and for how long. */
export function NewKey({ onClose, onMade }: Props) {
  const [name, setName] = useState('')
  const [scope, setScope] = useState('read,write')
  const [days, setDays] = useState('')
  const make = useMutation({
    mutationFn: () => {
      const expiresAt = days && new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      const wish = { name, scopes: scope.split(',') }
      return post<NewKeyAnswer>('/keys', expiresAt ? { ...wish, expiresAt } : wish)
    },
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: ['keys'] })
      onMade(made)
    },
  })
  return (
    <Dialog title="New API key" onClose={onClose}>
      <Form sending={make} action="Create key">
        <TextField
          label="Name"
          required
          autoFocus
          autoComplete="off"
          maxLength={100}
          hint="Where it is used, such as “backend, staging”."
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label="May"
          choices={scopes}
          value={scope}
          onChange={(event) => setScope(event.target.value)}
        />
        <SelectField
          label="Expires"
          choices={lives}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}
