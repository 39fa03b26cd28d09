import { useLayoutEffect, useReducer, useRef } from 'react'

type LiveRows<Row> = {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Whether the user is reading the rows now. */
  isRead: () => boolean
}

/**
 * Holds back new rows while the user reads a list, so that no row moves under the pointer. Visible rows still show
 * their latest data, and rows that leave the end of the list stay.
 *
 * @returns The visible rows, the number of held rows, and a function that shows them.
 */
export function useHeld<Row>({ rows, keyOf, isRead }: LiveRows<Row>) {
  const seen = useRef<readonly Row[]>([])
  const wasHeld = useRef(false)
  const [, renew] = useReducer((count: number) => count + 1, 0)
  const known = new Set(seen.current.map(keyOf))
  const waiting = rows.findIndex((row) => known.has(keyOf(row)))
  const isHeld = waiting > 0 && (wasHeld.current || isRead())
  const shown = isHeld ? hold(seen.current, rows.slice(waiting), keyOf) : rows
  useLayoutEffect(() => {
    seen.current = shown
    wasHeld.current = isHeld
  })
  const letIn = () => {
    wasHeld.current = false
    seen.current = []
    renew()
  }
  return { shown, waiting: isHeld ? waiting : 0, letIn }
}

/** The visible rows with their latest data, followed by the next rows. */
function hold<Row>(
  seen: readonly Row[],
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const latest = new Map(rows.map((row) => [keyOf(row), row]))
  const held = seen.map((row) => latest.get(keyOf(row)) ?? row)
  for (const row of seen) latest.delete(keyOf(row))
  return [...held, ...latest.values()]
}
