import { useNavigate, useSearch } from '@tanstack/react-router'
import type { RangeName } from './Ranges.js'

/**
 * The range of a chart, kept in the query string of the page.
 *
 * @param usual - The range of an address without one, or with an unknown one.
 */
export function useRange<Name extends RangeName>(
  ranges: readonly Name[],
  usual: Name,
): [range: Name, setRange: (next: Name) => void] {
  const named = useSearch({ strict: false, select: ({ range }) => range })
  const navigate = useNavigate()
  const setRange = (next: Name) =>
    void navigate({
      ...{ to: '.', search: (search) => ({ ...search, range: next }) },
      ...{ replace: true, resetScroll: false },
    })
  return [ranges.find((range) => range === named) ?? usual, setRange]
}
