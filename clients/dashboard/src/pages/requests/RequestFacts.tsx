import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { requestsQuery } from '../../api/queries.js'
import type { RequestEntry } from '../../api/types.js'
import { placeOf } from '../../shell/placeOf.js'
import { shorten } from '../../text/shorten.js'
import { durationText } from '../../text/time.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Facts } from '../../ui/values/Facts.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Id } from '../../ui/values/Id.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Time } from '../../ui/values/Time.js'
import { StatusState } from './requestColumns.js'

/** The stored facts of one request. Of its body only refused fields are stored. */
export function RequestFacts({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useInfiniteQuery(requestsQuery({ requestId: id, limit: 1 }))
  const entry = data?.pages[0]?.data[0]
  return (
    <Dialog title="Request" onClose={onClose}>
      {entry ? (
        <KnownRequest entry={entry} />
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data ? (
        <p className="text-sm text-ink-2">
          No request <code className="break-all">{id}</code> is stored. Requests are kept for 30
          days. Reads by this dashboard are not logged.
        </p>
      ) : (
        <Skeleton lines={6} className="h-9" />
      )}
    </Dialog>
  )
}

function KnownRequest({ entry }: { entry: RequestEntry }) {
  const { id, method, path, status, code, ms, credits, at } = entry
  const { keyId, key, userId, walletId, resourceId, refusal } = entry
  return (
    <>
      {refusal && <Refused refusal={refusal} />}
      <Facts
        of={[
          ['Id', <Id key="id" id={id} label="request id" />],
          [
            'Endpoint',
            <code key="endpoint" className="text-xs break-all">
              {method} {path}
            </code>,
          ],
          ['Status', <StatusState key="status" status={status} />],
          [
            'Code',
            code && (
              <a href={`/docs/errors#${code}`} className={link}>
                {code}
              </a>
            ),
          ],
          ['When', <Time key="at" at={at} />],
          ['Took', durationText(ms)],
          ['Credits', credits.toLocaleString()],
          ['Key', keyId && <KeyLink id={keyId} shown={key} />],
          [
            'Idempotency-Key',
            refusal?.idempotencyKey && (
              <code className="text-xs break-all">{refusal.idempotencyKey}</code>
            ),
          ],
          ['Member', userId && <Id id={userId} label="member id" />],
          ['Wallet', walletId && <To id={walletId} />],
          ['About', resourceId && <To id={resourceId} />],
        ]}
      />
    </>
  )
}

/** Why the call was refused: the message, and each refused field with its value where it is stored. */
function Refused({ refusal }: { refusal: NonNullable<RequestEntry['refusal']> }) {
  const { message, issues = [] } = refusal
  const fields = issues.filter(({ path }) => path !== '')
  return (
    <section
      aria-label="Why it was refused"
      className="mb-4 space-y-2 rounded-md bg-failed-soft p-3 text-sm"
    >
      <p className="break-words">{message}</p>
      {fields.length > 0 && (
        <ul className="space-y-1 text-xs text-ink-2">
          {fields.map((issue) => (
            <li key={`${issue.path} ${issue.message}`} className="break-words">
              <code>{issue.path}</code>
              {issue.value !== undefined && (
                <>
                  {' was '}
                  <code>{issue.value}</code>
                </>
              )}
              {issue.message !== message && `: ${issue.message}`}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function KeyLink({ id, shown }: { id: string; shown: RequestEntry['key'] }) {
  return (
    <Link {...placeOf(id)} title={id} className="text-accent hover:underline">
      {shown?.name ?? shorten(id)}{' '}
      {shown && (
        <span className="ml-1 font-mono text-xs text-ink-3">
          {shown.prefix}…{shown.lastFour}
        </span>
      )}
    </Link>
  )
}

const link = 'font-mono text-xs text-accent hover:underline'

function To({ id }: { id: string }) {
  if (id.startsWith('fund_')) return <Id id={id} label="funding id" />
  return (
    <Link {...placeOf(id)} title={id} className={link}>
      {shorten(id)}
    </Link>
  )
}
