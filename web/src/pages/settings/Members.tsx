import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { membersQuery } from '../../api/queries.js'
import type { MemberEntry, Role } from '../../api/types.js'
import { Button } from '../../ui/Button.js'
import { Dialog } from '../../ui/Dialog.js'
import { Failure } from '../../ui/Failure.js'
import { List } from '../../ui/List.js'
import { Section } from '../../ui/PageHead.js'
import type { Column } from '../../ui/Table.js'
import { Time } from '../../ui/Time.js'
import { Invite } from './Invite.js'

type Props = { role: Role; userId: string }

/** Who belongs to the account. Owners invite, and let go. */
export function Members({ role, userId }: Props) {
  const query = useInfiniteQuery(membersQuery)
  const [isInviting, setInviting] = useState(false)
  const [leaving, setLeaving] = useState<MemberEntry>()
  const isOwner = role === 'owner'
  const action = isOwner && <Button onClick={() => setInviting(true)}>Invite</Button>
  return (
    <Section title="Members" action={action}>
      <List
        label="Members"
        query={query}
        columns={columnsFor(isOwner, { userId, onRemove: setLeaving })}
        keyOf={({ id }) => id}
        empty={null}
      />
      {isInviting && <Invite onClose={() => setInviting(false)} />}
      {leaving && <Remove member={leaving} onClose={() => setLeaving(undefined)} />}
    </Section>
  )
}

type Removing = { userId: string; onRemove: (member: MemberEntry) => void }

function columnsFor(isOwner: boolean, { userId, onRemove }: Removing): Column<MemberEntry>[] {
  return [
    {
      name: 'Name',
      cell: ({ name, email }) => (
        <span title={email}>
          {name} <span className="text-ink-3">{email}</span>
        </span>
      ),
    },
    { name: 'Role', width: 'w-28', cell: ({ role }) => role },
    {
      name: 'Since',
      width: 'w-28',
      align: 'right',
      from: 'sm',
      cell: ({ createdAt }) => (
        <span className="text-ink-3">
          <Time at={createdAt} />
        </span>
      ),
    },
    {
      name: '',
      width: 'w-24',
      align: 'right',
      cell: (member) =>
        isOwner &&
        member.id !== userId && (
          <Button look="quiet" onClick={() => onRemove(member)}>
            Remove
          </Button>
        ),
    },
  ]
}

function Remove({ member, onClose }: { member: MemberEntry; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => post(`/members/${member.id}/remove`),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['members'] })
      onClose()
    },
  })
  return (
    <Dialog title="Remove member" onClose={onClose}>
      <div className="space-y-4 text-sm">
        <p>{member.email} is signed out at once and sees nothing of this account any more.</p>
        {remove.error && <Failure error={remove.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep</Button>
          <Button look="danger" isBusy={remove.isPending} onClick={() => remove.mutate()}>
            Remove {member.name}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
