import { useInfiniteQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { keysQuery } from '../../api/queries.js'
import type { KeyEntry } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { boxClass } from '../../ui/forms/boxClass.js'
import { Chips } from '../../ui/forms/Chips.js'
import { SearchField } from '../../ui/forms/SearchField.js'

export type RequestSearch = Record<string, string | undefined>
type Props = { search: RequestSearch; onChange: (change: RequestSearch) => void }

const methods = ['GET', 'POST', 'DELETE'].map((value) => ({ value, label: value }))
const statuses = [
  { value: '2xx', label: 'Succeeded' },
  { value: '4xx', label: '4xx' },
  { value: '5xx', label: '5xx' },
  { value: 'error', label: 'All failed' },
]

/** Filters that were typed or came with a link. Each is a removable chip. */
const named: Record<string, string> = {
  code: 'Code',
  path: 'Endpoint',
  keyId: 'Key',
  userId: 'Member',
  requestId: 'Request',
  resourceId: 'About',
}

/** The filters of the request log, stored in the query string. */
export function RequestFilters({ search, onChange }: Props) {
  const keys = useInfiniteQuery(keysQuery).data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <div className="mb-3 space-y-2">
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        <Chips
          label="Status"
          choices={statuses}
          value={search.status}
          onChange={(status) => onChange({ status })}
        />
        <Chips
          label="Method"
          choices={methods}
          value={search.method}
          onChange={(method) => onChange({ method })}
        />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Typed onChange={onChange} />
        {!search.keyId && <KeyChoice keys={keys} onChange={onChange} />}
        {Object.entries(named).map(
          ([name, word]) =>
            search[name] && (
              <Removable
                key={name}
                text={`${word}: ${wordOf(search[name], keys)}`}
                title={search[name]}
                onRemove={() => onChange({ [name]: undefined })}
              />
            ),
        )}
      </div>
    </div>
  )
}

const wordOf = (value: string, keys: readonly KeyEntry[]) =>
  keys.find(({ id }) => id === value)?.name ?? shorten(value)

/** The filter for a typed text: the prefix of an id names its kind; other texts are error codes. */
function filterOf(text: string): RequestSearch {
  if (text.startsWith('req_')) return { requestId: text }
  if (text.startsWith('user_')) return { userId: text }
  if (/^(intent|svc_wallet|fund|key|wh)_/.test(text)) return { resourceId: text }
  return text.startsWith('/') ? { path: text } : { code: text.toUpperCase() }
}

function Typed({ onChange }: Pick<Props, 'onChange'>) {
  const [text, setText] = useState('')
  return (
    <SearchField
      label="Filter by an id, an error code or an endpoint"
      placeholder="req_…, intent_…, or an error code"
      value={text}
      onChange={setText}
      onSearch={(wanted) => {
        if (wanted) onChange(filterOf(wanted))
        setText('')
      }}
    />
  )
}

function KeyChoice({ keys, onChange }: { keys: readonly KeyEntry[] } & Pick<Props, 'onChange'>) {
  if (keys.length === 0) return null
  return (
    <select
      aria-label="Key"
      value=""
      onChange={({ target }) => onChange({ keyId: target.value })}
      className={`${boxClass.small} max-w-44 text-ink-2`}
    >
      <option value="">Any key</option>
      {keys.map(({ id, name, lastFour }) => (
        <option key={id} value={id}>
          {name} …{lastFour}
        </option>
      ))}
    </select>
  )
}

function Removable({
  text,
  title,
  onRemove,
}: {
  text: string
  title: string
  onRemove: () => void
}) {
  return (
    <button
      type="button"
      title={title}
      aria-label={`Remove the filter ${text}`}
      className="inline-flex h-7 max-w-full items-center gap-1 rounded-full border border-accent bg-accent-soft px-2.5 text-xs font-medium text-accent"
      onClick={onRemove}
    >
      <span className="truncate">{text}</span>
      <X aria-hidden className="size-3" />
    </button>
  )
}
