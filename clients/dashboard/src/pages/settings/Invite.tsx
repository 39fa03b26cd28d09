import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { InviteAnswer } from '../../api/types.js'
import { exactText } from '../../text/time.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Code } from '../../ui/feedback/Empty.js'
import { SelectField, TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Shown } from '../../ui/dialogs/Shown.js'
import { roleChoices } from './roles.js'

/** Creates an invitation link. It is shown once, and its holder can join the account. */
export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('developer')
  const invite = useMutation({
    mutationFn: () => post<InviteAnswer>('/members/invite', { email, role }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['members'] }),
  })
  if (invite.data) {
    return (
      <Shown title="Invitation" done="Done" onClose={onClose}>
        <p>
          Send this link to {invite.data.email}. It works once, until{' '}
          {exactText(new Date(invite.data.expiresAt))}, and is not shown again.
        </p>
        <Code text={invite.data.url} label="link" />
      </Shown>
    )
  }
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <Form sending={invite} action="Create link">
        <TextField
          label="E-mail"
          type="email"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <SelectField
          label="Role"
          choices={roleChoices}
          value={role}
          onChange={(event) => setRole(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}
