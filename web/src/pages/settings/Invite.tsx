import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { post } from '../../api/call.js'
import type { InviteAnswer } from '../../api/types.js'
import { Button } from '../../ui/Button.js'
import { Dialog } from '../../ui/Dialog.js'
import { Code } from '../../ui/Empty.js'
import { Failure } from '../../ui/Failure.js'
import { SelectField, TextField } from '../../ui/Field.js'

const roles = [
  { value: 'developer', label: 'Developer: reads, writes, makes keys' },
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'owner', label: 'Owner: all of it, and members' },
]

/** A link for somebody new. It is shown once; whoever has it can join. */
export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('developer')
  const invite = useMutation({
    mutationFn: () => post<InviteAnswer>('/members/invite', { email, role }),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate()
  }
  if (invite.data) {
    return (
      <Dialog title="Invitation" onClose={onClose}>
        <div className="space-y-4 text-sm">
          <p>Send this link to {invite.data.email}. It works once, and is not shown again.</p>
          <Code text={invite.data.url} label="link" />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form onSubmit={onSubmit} className="space-y-3">
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
          choices={roles}
          value={role}
          onChange={(event) => setRole(event.target.value)}
        />
        {invite.error && <Failure error={invite.error} />}
        <div className="flex justify-end">
          <Button type="submit" look="primary" isBusy={invite.isPending}>
            Make a link
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
