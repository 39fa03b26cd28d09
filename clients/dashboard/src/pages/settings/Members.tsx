import { useInfiniteQuery } from '@tanstack/react-query'
import { KeyRound, UserCog, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { membersQuery } from '../../api/queries.js'
import type { MemberEntry } from '../../api/types.js'
import { Actions } from '../../ui/forms/Actions.js'
import { Button } from '../../ui/forms/Button.js'
import { List } from '../../ui/tables/List.js'
import { Section } from '../../ui/PageHead.js'
import { timeColumn, type Column } from '../../ui/tables/Table.js'
import { Invitations } from './Invitations.js'
import { Invite } from './Invite.js'
import { ChangeRole, Remove, ResetPassword } from './MemberDialogs.js'

type MemberDialog = { what: 'role' | 'password' | 'remove'; member: MemberEntry }

/** The members of the account. Owners invite members, change roles and remove members. */
export function Members({ userId }: { userId: string }) {
  const query = useInfiniteQuery(membersQuery)
  const [isInviting, setInviting] = useState(false)
  const [asking, setAsking] = useState<MemberDialog>()
  const close = () => setAsking(undefined)
  const isManager = useMay('manage')
  const action = isManager && <Button onClick={() => setInviting(true)}>Invite</Button>
  return (
    <Section title="Members" action={action}>
      <List
        label="Members"
        query={query}
        columns={isManager ? [...columns, actionsFor(userId, setAsking)] : columns}
        keyOf={({ id }) => id}
        empty={null}
      />
      {isManager && <Invitations />}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
      {asking?.what === 'role' && <ChangeRole member={asking.member} onClose={close} />}
      {asking?.what === 'password' && <ResetPassword member={asking.member} onClose={close} />}
      {asking?.what === 'remove' && <Remove member={asking.member} onClose={close} />}
    </Section>
  )
}

const columns: Column<MemberEntry>[] = [
  {
    name: 'Name',
    cell: ({ name, email }) => (
      <span title={email}>
        {name} <span className="text-ink-3">{email}</span>
      </span>
    ),
  },
  { name: 'Role', width: 'w-28', cell: ({ role }) => role },
  timeColumn('Since', ({ createdAt }) => createdAt, { from: 'sm' }),
]

/** Actions on other members. Owners cannot change or remove themselves by mistake. */
function actionsFor(userId: string, onAsk: (asking: MemberDialog) => void): Column<MemberEntry> {
  return {
    name: '',
    width: 'w-12',
    align: 'right',
    cell: (member) =>
      member.id !== userId && (
        <Actions
          label={`member ${member.name}`}
          entries={[
            {
              label: 'Change role …',
              icon: <UserCog aria-hidden className="size-4" />,
              onSelect: () => onAsk({ what: 'role', member }),
            },
            ...(member.mayResetPassword
              ? [
                  {
                    label: 'Reset password …',
                    icon: <KeyRound aria-hidden className="size-4" />,
                    onSelect: () => onAsk({ what: 'password', member }),
                  },
                ]
              : []),
            {
              label: 'Remove …',
              icon: <UserMinus aria-hidden className="size-4" />,
              onSelect: () => onAsk({ what: 'remove', member }),
            },
          ]}
        />
      ),
  }
}
