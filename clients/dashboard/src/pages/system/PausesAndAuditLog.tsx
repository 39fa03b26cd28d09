import type { System } from '../../api/types.js'
import { chainText } from '../../text/names.js'
import { Id } from '../../ui/values/Id.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Time } from '../../ui/values/Time.js'

type PauseEntry = System['pauses'][number]
type OperatorAction = System['auditLog'][number]

const pauseColumns: Column<PauseEntry>[] = [
  { name: 'Subject', cell: (pause) => <Subject pause={pause} /> },
  {
    name: 'Reason',
    from: 'sm',
    cell: ({ why }) => <span title={why}>{why}</span>,
  },
  { name: 'By', width: 'w-40', from: 'md', cell: ({ by }) => <span title={by}>{by}</span> },
  { name: 'Since', width: 'w-28', align: 'right', cell: ({ since }) => <Time at={since} /> },
]

/** Active pauses and freezes, with operator and reason. */
export function Pauses({ pauses }: { pauses: PauseEntry[] }) {
  return (
    <Section title="Paused and frozen">
      {pauses.length === 0 ? (
        <p className="border-y border-line py-3 text-sm text-ink-3">Nothing is paused or frozen.</p>
      ) : (
        <Table
          label="Paused and frozen"
          columns={pauseColumns}
          rows={pauses}
          keyOf={({ scope, subject }) => `${scope} ${subject}`}
        />
      )}
    </Section>
  )
}

function Subject({ pause: { scope, subject } }: { pause: PauseEntry }) {
  switch (scope) {
    case 'deployment':
      return 'Whole deployment, paused'
    case 'chain':
      return `${chainText(subject)}, paused`
    case 'account':
    case 'wallet':
      return <Id id={subject} label={`${scope} id`} />
  }
}

const auditLogColumns: Column<OperatorAction>[] = [
  { name: 'When', width: 'w-28', cell: ({ at }) => <Time at={at} /> },
  { name: 'Operator', width: 'w-40', from: 'sm', cell: ({ actor }) => actor },
  { name: 'Action', cell: ({ action, subject }) => `${action} ${subject}` },
  { name: 'Reason', from: 'md', cell: ({ why }) => <span title={why}>{why}</span> },
]

/** The newest entries of the operators' audit log. */
export function AuditLog({ auditLog }: { auditLog: OperatorAction[] }) {
  return (
    <Section title="Audit log">
      {auditLog.length === 0 ? (
        <p className="border-y border-line py-3 text-sm text-ink-3">
          Pauses, freezes and resumes by operators appear here, with operator and reason.
        </p>
      ) : (
        <Table
          label="Audit log"
          columns={auditLogColumns}
          rows={auditLog}
          keyOf={({ at, action, subject }) => `${at} ${action} ${subject}`}
        />
      )}
    </Section>
  )
}
