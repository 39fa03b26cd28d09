import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { keysQuery } from '../../api/queries.js'
import type { KeyEntry, NewKeyAnswer } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Empty } from '../../ui/feedback/Empty.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'
import { Time } from '../../ui/values/Time.js'
import { rowLink, type Column } from '../../ui/tables/Table.js'
import { KeyMenu } from './KeyMenu.js'
import { KeySparkline, KeyUse, USE_NAME } from './KeyUse.js'
import { NewKey } from './NewKey.js'
import { ShownKey } from './ShownKey.js'

const hasEnded = ({ revokedAt, expiresAt }: KeyEntry) =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now())

function KeyState({ entry }: { entry: KeyEntry }) {
  const { revokedAt, expiresAt } = entry
  if (revokedAt) return <State state="stopped">Revoked</State>
  if (hasEnded(entry)) return <State state="stopped">Expired</State>
  if (expiresAt) return <State state="waiting">Expires</State>
  return <State state="done">Active</State>
}

function columnsFor(mayWrite: boolean, onShow: (made: NewKeyAnswer) => void): Column<KeyEntry>[] {
  return [
    {
      name: 'Name',
      cell: ({ id, name }) => (
        <Link to="/keys" search={{ keyId: id }} resetScroll={false} title={name} {...rowLink}>
          {name}
        </Link>
      ),
    },
    {
      name: 'Key',
      width: 'w-36',
      cell: ({ prefix, lastFour }) => (
        <code className="text-ink-2">
          {prefix}…{lastFour}
        </code>
      ),
    },
    { name: 'Scopes', width: 'w-28', from: 'md', cell: ({ scopes }) => scopes.join(', ') },
    { name: 'State', width: 'w-28', from: 'sm', cell: (entry) => <KeyState entry={entry} /> },
    {
      name: USE_NAME,
      width: 'w-36',
      from: 'md',
      cell: ({ id, name }) => <KeySparkline keyId={id} name={name} />,
    },
    {
      name: 'Last used',
      width: 'w-28',
      align: 'right',
      from: 'sm',
      cell: ({ lastUsedAt }) => (
        <span className="text-ink-3">{lastUsedAt ? <Time at={lastUsedAt} /> : 'never'}</span>
      ),
    },
    {
      name: 'Expires',
      width: 'w-28',
      align: 'right',
      from: 'lg',
      cell: ({ expiresAt }) => (
        <span className="text-ink-3">{expiresAt ? <Time at={expiresAt} /> : 'never'}</span>
      ),
    },
    {
      name: '',
      width: 'w-12',
      align: 'right',
      cell: (entry) => mayWrite && !hasEnded(entry) && <KeyMenu entry={entry} onShow={onShow} />,
    },
  ]
}

/** The API keys of the account. A new key is shown once. */
export function Keys() {
  const query = useInfiniteQuery(keysQuery)
  const { keyId } = useSearch({ from: '/inside/keys' })
  const navigate = useNavigate()
  const [isMaking, setMaking] = useState(false)
  const [shown, setShown] = useState<NewKeyAnswer>()
  const mayWrite = useMay('write')
  const action = mayWrite && (
    <Button look="primary" onClick={() => setMaking(true)}>
      New key
    </Button>
  )
  return (
    <>
      <PageHead title="API keys" action={action}>
        Programs send a key with each call. A key is shown only once, when it is created.
      </PageHead>
      <List
        label="API keys"
        query={query}
        columns={columnsFor(mayWrite, setShown)}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No keys yet">
            {mayWrite
              ? 'Create one to call the API.'
              : 'A developer or an owner of this account can create one.'}
          </Empty>
        }
      />
      {isMaking && (
        <NewKey
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setShown(made)
          }}
        />
      )}
      {keyId && (
        <KeyUse
          keyId={keyId}
          entry={query.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === keyId)}
          onClose={() => void navigate({ to: '/keys', search: {}, resetScroll: false })}
        />
      )}
      {shown && <ShownKey made={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}
