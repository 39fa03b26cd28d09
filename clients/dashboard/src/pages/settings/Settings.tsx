import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/access.js'
import { sessionQuery } from '../../api/queries.js'
import { Facts } from '../../ui/values/Facts.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { AuditLog } from './AuditLog.js'
import { Members } from './Members.js'
import { Password } from './Password.js'
import { Sessions } from './Sessions.js'

/** The account, its members and the sessions of the user. */
export function Settings() {
  const { data: session } = useQuery(sessionQuery)
  const isManager = useMay('manage')
  if (!session) return null
  const { account, user, role, network } = session
  return (
    <>
      <PageHead title="Settings" />
      <div className="max-w-3xl">
        <Section title="Account">
          <Facts
            of={[
              ['Name', account.name],
              ['Plan', account.plan],
              ['Network', network],
              ['You', `${user.name}, ${user.email}`],
              ['Your role', role],
            ]}
          />
        </Section>
        <Members userId={user.id} />
        <Password email={user.email} />
        <Sessions />
        {isManager && <AuditLog />}
      </div>
    </>
  )
}
