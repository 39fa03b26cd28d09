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

/** Another role for a member. It counts from his next request on. */
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
          hint="It counts from the next request on. An account keeps one owner at least."
          choices={roleChoices}
          value={role}
          onChange={(event) => setRole(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}

/** The end of a membership. */
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
      {member.email} is signed out at once and sees nothing of this account any more.
    </Confirm>
  )
}
