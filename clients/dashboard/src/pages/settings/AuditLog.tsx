import { useInfiniteQuery } from '@tanstack/react-query'
import { auditLogQuery } from '../../api/queries.js'
import type { AuditEntry } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { exactText } from '../../text/time.js'
import { List } from '../../ui/tables/List.js'
import { Section } from '../../ui/PageHead.js'
import { timeColumn, type Column } from '../../ui/tables/Table.js'

/** Labels of the actions. The detail of `key shorten` is the expiry. */
const words: Record<string, string> = {
  'key create': 'Created the key',
  'key revoke': 'Revoked the key',
  'key shorten': 'Rolled a key, valid until',
  'member invite': 'Invited',
  'member uninvite': 'Withdrew the invitation of',
  'member join': 'Joined as',
  'member role': 'Changed a role to',
  'member remove': 'Removed a member with the role',
  'password reset': 'Created a link to reset the password of',
  'password choose': 'Chose a new password by a link for',
}

function detailOf({ action, detail, subject }: AuditEntry): string {
  if (detail === null) return shorten(subject)
  return action === 'key shorten' ? exactText(new Date(detail)) : detail
}

const columns: Column<AuditEntry>[] = [
  {
    name: 'Action',
    cell: (entry) => (
      <span title={`${entry.action} ${entry.subject}`}>
        {words[entry.action] ?? entry.action} <span className="font-medium">{detailOf(entry)}</span>
      </span>
    ),
  },
  {
    name: 'Subject',
    width: 'w-40',
    from: 'md',
    cell: ({ subject }) => (
      <span title={subject} className="font-mono text-xs text-ink-2">
        {shorten(subject)}
      </span>
    ),
  },
  {
    name: 'By',
    width: 'w-52 max-sm:w-28',
    cell: ({ by }) => (
      <span title={by.id} className="text-ink-2">
        {by.email ?? 'a former member'}
      </span>
    ),
  },
  timeColumn('When', ({ at }) => at, { from: 'sm' }),
]

/** The audit log of the account, for owners. It is kept for ever. */
export function AuditLog() {
  const query = useInfiniteQuery(auditLogQuery)
  return (
    <Section title="Audit log">
      <List
        label="Audit log"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<p className="border-y border-line py-4 text-sm text-ink-3">No entries yet.</p>}
      />
    </Section>
  )
}
