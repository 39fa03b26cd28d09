import type { ComponentProps, ReactNode } from 'react'
import { failureCodes } from '../../api/failureCodes.js'
import { boxClass } from '../../ui/forms/boxClass.js'
import { Chips } from '../../ui/forms/Chips.js'
import { FilterField } from '../../ui/forms/SearchField.js'
import type { IntentSearch } from './intentFilter.js'

const statuses = [
  { value: 'pending,planning,executing', label: 'Open' },
  { value: 'pending', label: 'Pending' },
  { value: 'planning', label: 'Planning' },
  { value: 'executing', label: 'Executing' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
]
const actions = [
  { value: 'lend', label: 'Lend' },
  { value: 'withdraw', label: 'Withdraw' },
  { value: 'bridge', label: 'Bridge' },
]

type Props = {
  search: IntentSearch
  onChange: (change: IntentSearch) => void
  children: ReactNode
}

/** The filters of the list of intents, stored in the query string. */
export function IntentFilters({ search, onChange, children }: Props) {
  const { status, action, errorCode, from, until } = search
  return (
    <div className="mb-3 space-y-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Chips
          label="State"
          choices={statuses}
          value={status}
          onChange={(value) => onChange({ status: value })}
        />
        <Chips
          label="Action"
          choices={actions}
          value={action}
          onChange={(value) => onChange({ action: value })}
        />
        <span className="ml-auto">{children}</span>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <FilterField
          label="Intents of a user, by the id of the user"
          placeholder="Id of a user"
          value={search.userId}
          onChange={(userId) => onChange({ userId })}
        />
        <select
          aria-label="Failure code"
          value={errorCode ?? ''}
          onChange={({ target }) => onChange({ errorCode: target.value || undefined })}
          className={`${boxClass.small} max-w-full text-ink-2 max-sm:w-full`}
        >
          <option value="">Any failure code</option>
          {failureCodes.map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
        <Day label="From" value={from} max={until} onChange={(day) => onChange({ from: day })} />
        <Day label="Until" value={until} min={from} onChange={(day) => onChange({ until: day })} />
      </div>
    </div>
  )
}

type DayProps = Pick<ComponentProps<'input'>, 'min' | 'max'> & {
  label: string
  value: string | undefined
  onChange: (day: string | undefined) => void
}

function Day({ label, value, onChange, ...limits }: DayProps) {
  return (
    <label
      className="inline-flex items-center gap-1.5 text-xs text-ink-2 max-sm:flex-1"
      title="A day in UTC"
    >
      {label}
      <input
        type="date"
        value={value ?? ''}
        {...limits}
        onChange={({ target }) => onChange(target.value || undefined)}
        className={`${boxClass.small} max-sm:w-0 max-sm:flex-1`}
      />
    </label>
  )
}
