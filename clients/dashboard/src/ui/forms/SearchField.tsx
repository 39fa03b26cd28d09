import { useEffect, useState, type FormEvent } from 'react'
import { boxClass } from './boxClass.js'

type FieldWords = { label: string; placeholder: string }
type SearchProps = FieldWords & {
  value: string
  onChange: (text: string) => void
  /** Enter was pressed. The text has no spaces at its ends. */
  onSearch: (text: string) => void
}

/** A text field above a list. */
export function SearchField({ label, value, onChange, onSearch, ...rest }: SearchProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(value.trim())
  }
  return (
    <form role="search" onSubmit={onSubmit} className="w-full sm:w-72">
      <input
        type="search"
        aria-label={label}
        spellCheck={false}
        {...rest}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className={`${boxClass.small} w-full`}
      />
    </form>
  )
}

type FilterProps = FieldWords & {
  /** The filter of the list, without one undefined. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** A search field that shows a filter of the list. An emptied field removes the filter. */
export function FilterField({ value = '', onChange, ...words }: FilterProps) {
  const [text, setText] = useState(value)
  // The filter may change elsewhere, by a link or the back button.
  useEffect(() => setText(value), [value])
  return (
    <SearchField
      {...words}
      value={text}
      onChange={(next) => {
        setText(next)
        if (next === '' && value) onChange(undefined)
      }}
      onSearch={(wanted) => onChange(wanted || undefined)}
    />
  )
}
