import { useSyncExternalStore } from 'react'
import { agoText, durationText, exactText } from '../../text/time.js'

const TICK_MS = 1_000

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for the whole page, which stands still while nobody looks at it. */
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

/** Milliseconds now, a new one each second. */
export const useNow = () => useSyncExternalStore(subscribe, () => now)

/** How long ago; the exact moment in the reader's zone on hover. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  const reference = useNow()
  return (
    <time dateTime={at} title={exactText(date)} className="whitespace-nowrap">
      {agoText(date, new Date(Math.max(reference, date.getTime())))}
    </time>
  )
}

/** How long something has been going on, counting. */
export function Elapsed({ since }: { since: string }) {
  return <span className="whitespace-nowrap">{durationText(useNow() - Date.parse(since))}</span>
}
