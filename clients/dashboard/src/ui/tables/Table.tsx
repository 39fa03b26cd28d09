import { useEffect, useRef, type ReactNode } from 'react'
import { isShortcut } from '../keys.js'
import { Time } from '../values/Time.js'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  /** A Tailwind width. Columns without a width share the rest. */
  width?: string
  align?: 'right'
  /** Hidden on pages narrower than this breakpoint. */
  from?: 'sm' | 'md' | 'lg'
}

/** A column with a relative time. */
export const timeColumn = <Row,>(
  name: string,
  at: (row: Row) => string,
  place: Pick<Column<Row>, 'width' | 'from'> = {},
): Column<Row> => ({
  name,
  width: 'w-28',
  align: 'right',
  ...place,
  cell: (row) => (
    <span className="text-ink-3">
      <Time at={at(row)} />
    </span>
  ),
})

type Props<Row> = {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

const hidden = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' }

const classOf = <Row,>({ align, from }: Column<Row>) =>
  `${align ? 'text-right' : 'text-left'} ${from ? hidden[from] : ''}`

/** Rows of equal height. `j` and `k` move between rows; a link with `rowLink` covers its row. */
export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  useRowKeys(body)
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse">
      <thead>
        <tr className="border-b border-line">
          {columns.map((column) => (
            <th
              key={column.name}
              scope="col"
              className={`h-9 px-2 text-xs text-ink-3 first:pl-0 last:pr-0 ${column.width ?? ''} ${classOf(column)}`}
            >
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            className="relative h-11 border-b border-line transition-colors has-[a[data-row]]:hover:bg-hover has-[a[data-row]:focus-visible]:bg-hover"
          >
            {columns.map((column) => (
              <td
                key={column.name}
                className={`truncate px-2 align-middle text-sm first:pl-0 last:pr-0 ${classOf(column)}`}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Props of a link that makes the whole row clickable. */
export const rowLink = {
  'data-row': true,
  className: 'after:absolute after:inset-0 focus-visible:outline-none',
}

/** `j` and `k` move the focus between rows. Enter follows the focused link. */
function useRowKeys(body: React.RefObject<HTMLTableSectionElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key]
      if (!step || !isShortcut(event)) return
      const links = [...(body.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])]
      const at = links.findIndex((link) => link === document.activeElement)
      const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step
      links[next]?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [body])
}
