import { Link } from '@tanstack/react-router'
import type { Intent } from '../../api/types.js'
import { Section } from '../../ui/PageHead.js'
import { State, type StateName } from '../../ui/feedback/State.js'

const statuses: [status: Intent['status'], state: StateName, word: string][] = [
  ['pending', 'waiting', 'Pending'],
  ['planning', 'running', 'Planning'],
  ['executing', 'running', 'Executing'],
  ['completed', 'done', 'Completed'],
  ['failed', 'failed', 'Failed'],
]

/** The number of today's intents by status. */
export function Today({ counts }: { counts: Record<string, number> }) {
  const today = new Date().toISOString().slice(0, 10)
  const shown = statuses.filter(([status]) => counts[status])
  return (
    <Section title="Intents today (UTC)">
      {shown.length > 0 ? (
        <ul className="border-t border-line">
          {shown.map(([status, state, word]) => (
            <li key={status}>
              <Link
                to="/intents"
                search={{ status, from: today }}
                className="flex h-11 items-center justify-between border-b border-line text-sm hover:bg-hover"
              >
                <State state={state}>{word}</State>
                <span>{counts[status]?.toLocaleString()}</span>
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        <p className="border-y border-line py-4 text-sm text-ink-3">None yet.</p>
      )}
    </Section>
  )
}
