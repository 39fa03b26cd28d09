import { useSyncExternalStore } from 'react'
import { agoText, durationText, exactText } from '../../text/time.js'

const TICK_MS = 1_000

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all components. It stops without subscribers. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  now = Date.now()
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The current time in milliseconds, updated each second. */
export const useNow = () => useSyncExternalStore(subscribe, () => now)

/** A relative time, with the exact local time on hover. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  const now = useNow()
  return (
    <time dateTime={at} title={exactText(date)} className="whitespace-nowrap">
      {agoText(date, new Date(now))}
    </time>
  )
}

/** The running duration since a time. */
export function Elapsed({ since }: { since: string }) {
  return <span className="whitespace-nowrap">{durationText(useNow() - Date.parse(since))}</span>
}
