import { useLayoutEffect, useReducer, useRef } from 'react'

type Live<Row> = {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Whether somebody is reading the rows now. */
  isRead: () => boolean
}

/**
 * The rows of a list that somebody reads while others arrive on top. They wait until he asks for them, and those that
 * they push off the end stay: a row must not move away under a finger. What is known of a row is always the latest.
 *
 * @returns How many wait, and what lets them in.
 */
export function useHeld<Row>({ rows, keyOf, isRead }: Live<Row>) {
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

/** The rows that were there as they are now, and below them those that follow. */
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
