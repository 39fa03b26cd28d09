import type { System } from '../../api/types.js'
import { chainText } from '../../text/shorten.js'
import { Id } from '../../ui/values/Id.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Time } from '../../ui/values/Time.js'

type Stop = System['stops'][number]
type Act = System['acts'][number]

const stopColumns: Column<Stop>[] = [
  { name: 'What', cell: (stop) => <Subject stop={stop} /> },
  {
    name: 'Why',
    from: 'sm',
    cell: ({ why }) => <span title={why}>{why}</span>,
  },
  { name: 'By', width: 'w-40', from: 'md', cell: ({ by }) => <span title={by}>{by}</span> },
  { name: 'Since', width: 'w-28', align: 'right', cell: ({ since }) => <Time at={since} /> },
]

/** What operators have paused or frozen, who and why. */
export function Stops({ stops }: { stops: Stop[] }) {
  return (
    <Section title="Paused and frozen">
      {stops.length === 0 ? (
        <p className="border-y border-line py-3 text-sm text-ink-3">Nothing is stopped.</p>
      ) : (
        <Table
          label="Paused and frozen"
          columns={stopColumns}
          rows={stops}
          keyOf={({ scope, subject }) => `${scope} ${subject}`}
        />
      )}
    </Section>
  )
}

function Subject({ stop: { scope, subject } }: { stop: Stop }) {
  switch (scope) {
    case 'deployment':
      return 'The whole deployment, paused'
    case 'chain':
      return `${chainText(subject)}, paused`
    case 'account':
    case 'wallet':
      return <Id id={subject} label={`${scope} id`} />
  }
}

const actColumns: Column<Act>[] = [
  { name: 'When', width: 'w-28', cell: ({ at }) => <Time at={at} /> },
  { name: 'Who', width: 'w-40', from: 'sm', cell: ({ actor }) => actor },
  { name: 'What', cell: ({ action, subject }) => `${action} ${subject}` },
  { name: 'Why', from: 'md', cell: ({ why }) => <span title={why}>{why}</span> },
]

/** The latest that operators have done. */
export function Acts({ acts }: { acts: Act[] }) {
  return (
    <Section title="Latest acts">
      {acts.length === 0 ? (
        <p className="border-y border-line py-3 text-sm text-ink-3">
          What operators pause, freeze and resume stands here, with who and why.
        </p>
      ) : (
        <Table
          label="Latest acts"
          columns={actColumns}
          rows={acts}
          keyOf={({ at, action, subject }) => `${at} ${action} ${subject}`}
        />
      )}
    </Section>
  )
}
