import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { MemberEntry, PasswordResetAnswer } from '../../api/types.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Shown } from '../../ui/dialogs/Shown.js'
import { Code } from '../../ui/feedback/Empty.js'
import { SelectField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { roleChoices } from './roles.js'

type Props = { member: MemberEntry; onClose: () => void }

const refresh = () => void queryClient.invalidateQueries({ queryKey: ['members'] })

/** Changes the role of a member, from the next request on. */
export function ChangeRole({ member, onClose }: Props) {
  const [role, setRole] = useState<string>(member.role)
  const change = useMutation({
    mutationFn: () => post(`/members/${member.id}/role`, { role }),
    onSuccess: () => {
      refresh()
      onClose()
    },
  })
  return (
    <Dialog title={`Role of ${member.name}`} onClose={onClose}>
      <Form sending={change} action="Change role">
        <SelectField
          label="Role"
          hint="Applies from the next request on. An account needs at least one owner."
          choices={roleChoices}
          value={role}
          onChange={(event) => setRole(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}

/** Removes a member from the account. */
export function Remove({ member, onClose }: Props) {
  const remove = useMutation({
    mutationFn: () => post(`/members/${member.id}/remove`),
    onSuccess: () => {
      refresh()
      onClose()
    },
  })
  return (
    <Confirm
      title="Remove member"
      sending={remove}
      action={`Remove ${member.name}`}
      keep="Keep"
      onClose={onClose}
    >
      {member.email} is signed out at once and loses access to this account.
    </Confirm>
  )
}

/** Creates a link with which the member chooses a new password. It is shown once. */
export function ResetPassword({ member, onClose }: Props) {
  const reset = useMutation({
    mutationFn: () => post<PasswordResetAnswer>(`/members/${member.id}/password-reset`),
  })
  if (reset.data) {
    return (
      <Shown title="New password" done="Done" onClose={onClose}>
        <p>Send this link to {member.email}. It works once, for a day, and is not shown again.</p>
        <Code text={reset.data.url} label="link" />
      </Shown>
    )
  }
  return (
    <Confirm
      title="Reset password"
      sending={reset}
      action="Create link"
      isHarmless
      onClose={onClose}
    >
      The holder of the link chooses a new password for {member.email}, who is then signed out
      everywhere. The audit log shows that you created it.
    </Confirm>
  )
}
