import { useLayoutEffect, useReducer, useRef } from 'react'
import { useOwnWrites } from '../../api/ownWrites.js'

type LiveRows<Row> = {
  rows: readonly Row[]
  /** The id of a row. */
  keyOf: (row: Row) => string
  /** Whether the user is reading the rows now. */
  isRead: () => boolean
}

/**
 * Holds back new rows while the user reads a list, so that no row moves under the pointer. Rows that this browser
 * wrote appear at once. Visible rows still show their latest data, and rows that leave the end of the list stay.
 *
 * @returns The visible rows, the number of held rows, and a function that shows them.
 */
export function useHeld<Row>({ rows, keyOf, isRead }: LiveRows<Row>) {
  const seen = useRef<readonly Row[]>([])
  const wasHeld = useRef(false)
  const [, renew] = useReducer((count: number) => count + 1, 0)
  const isOwn = useOwnWrites()
  const known = new Set(seen.current.map(keyOf))
  const lastKnown = rows.findLastIndex((row) => known.has(keyOf(row)))
  // Unknown rows after the last known one are the next page.
  const fresh = new Set(rows.filter((row, at) => at < lastKnown && !known.has(keyOf(row))))
  const own = [...fresh].filter((row) => isOwn(keyOf(row)))
  const waiting = fresh.size - own.length
  const isHeld = waiting > 0 && (wasHeld.current || isRead())
  const others = rows.filter((row) => !fresh.has(row))
  const shown = isHeld ? [...own, ...hold(seen.current, others, keyOf)] : rows
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
