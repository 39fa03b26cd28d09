import { useLayoutEffect, useReducer, useRef } from 'react'

type Live<Row> = {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Whether somebody is reading the rows now. */
  isRead: () => boolean
}

/**
 * The rows of a list that somebody reads while others arrive on top. They wait until he asks for them: a row must
 * not move away under a finger.
 *
 * @returns How many wait, and what lets them in.
 */
export function useHeld<Row>({ rows, keyOf, isRead }: Live<Row>) {
  const seen = useRef<ReadonlySet<string>>(new Set())
  const wasHeld = useRef(false)
  const [, renew] = useReducer((count: number) => count + 1, 0)
  const firstSeen = rows.findIndex((row) => seen.current.has(keyOf(row)))
  const isHeld = firstSeen > 0 && (wasHeld.current || isRead())
  const shown = isHeld ? rows.slice(firstSeen) : rows
  useLayoutEffect(() => {
    seen.current = new Set(shown.map(keyOf))
    wasHeld.current = isHeld
  })
  const letIn = () => {
    seen.current = new Set(rows.map(keyOf))
    renew()
  }
  return { shown, waiting: rows.length - shown.length, letIn }
}
