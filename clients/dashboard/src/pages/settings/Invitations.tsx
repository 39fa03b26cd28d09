import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { MailX } from 'lucide-react'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { invitationsQuery } from '../../api/queries.js'
import type { InviteEntry } from '../../api/types.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'
import { Actions } from '../../ui/forms/Actions.js'
import { List } from '../../ui/tables/List.js'
import { timeColumn, type Column } from '../../ui/tables/Table.js'

/** The invitations that are not accepted yet, for owners. Absent without one. */
export function Invitations() {
  const query = useInfiniteQuery(invitationsQuery)
  const [asking, setAsking] = useState<InviteEntry>()
  const isEmpty = query.data?.pages.every(({ data }) => data.length === 0)
  return (
    <>
      {!isEmpty && (
        <div className="mt-6">
          <h3 className="mb-1 text-sm">Pending invitations</h3>
          <List
            label="Pending invitations"
            query={query}
            columns={[...columns, withdrawColumn(setAsking)]}
            keyOf={({ id }) => id}
            empty={null}
          />
        </div>
      )}
      {asking && <Withdraw invitation={asking} onClose={() => setAsking(undefined)} />}
    </>
  )
}

const guestOf = ({ email }: InviteEntry) => email ?? 'the holder of the link'

function inviterOf({ by }: InviteEntry): string {
  if (by === null) return 'the operator'
  return by.email ?? 'a former member'
}

const columns: Column<InviteEntry>[] = [
  {
    name: 'E-mail',
    cell: (invitation) => <span title={guestOf(invitation)}>{guestOf(invitation)}</span>,
  },
  { name: 'Role', width: 'w-28 max-sm:w-20', cell: ({ role }) => role },
  {
    name: 'Invited by',
    from: 'md',
    cell: (invitation) => (
      <span title={inviterOf(invitation)} className="text-ink-2">
        {inviterOf(invitation)}
      </span>
    ),
  },
  timeColumn('Expires', ({ expiresAt }) => expiresAt, { width: 'w-20' }),
]

const withdrawColumn = (onAsk: (invitation: InviteEntry) => void): Column<InviteEntry> => ({
  name: '',
  width: 'w-12',
  align: 'right',
  cell: (invitation) => (
    <Actions
      label={`the invitation of ${guestOf(invitation)}`}
      entries={[
        {
          label: 'Withdraw …',
          icon: <MailX aria-hidden className="size-4" />,
          onSelect: () => onAsk(invitation),
        },
      ]}
    />
  ),
})

function Withdraw({ invitation, onClose }: { invitation: InviteEntry; onClose: () => void }) {
  const withdraw = useMutation({
    mutationFn: () => post(`/members/invitations/${invitation.id}/end`),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['members'] })
      onClose()
    },
  })
  return (
    <Confirm
      title="Withdraw invitation"
      sending={withdraw}
      action="Withdraw"
      keep="Keep"
      onClose={onClose}
    >
      The link for {guestOf(invitation)} stops working at once. Invite again to create a new link.
    </Confirm>
  )
}
