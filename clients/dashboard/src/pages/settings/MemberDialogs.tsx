import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { MemberEntry } from '../../api/types.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
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
