import type { System } from '../../api/types.js'
import { Facts } from '../../ui/values/Facts.js'
import { Section } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'

/** The running processes. A role without a database session is not running. */
export function Processes({ system: { roles, temporal } }: { system: System }) {
  return (
    <Section title="Processes">
      <div className="grid gap-x-12 lg:grid-cols-2">
        <Facts
          of={roles.map(({ role, sessions, isThere }) => [
            role,
            <Presence key={role} isThere={isThere}>
              {isThere ? `${sessions} ${sessions === 1 ? 'session' : 'sessions'}` : 'Not running'}
            </Presence>,
          ])}
        />
        <Facts
          of={[
            [
              'Temporal',
              <Presence key="temporal" isThere={temporal}>
                {temporal ? 'Available' : 'No answer'}
              </Presence>,
            ],
          ]}
        />
      </div>
    </Section>
  )
}

function Presence({ isThere, children }: { isThere: boolean; children: string }) {
  return <State state={isThere ? 'done' : 'failed'}>{children}</State>
}
