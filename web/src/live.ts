import { useEffect, useSyncExternalStore } from 'react'
import { queryClient } from './api/client.js'
import type { z } from 'zod'
import type { event } from '../../api/schemas/events.js'
import type { PublicEventType } from '../../domain/events.js'

type Told = z.infer<typeof event>

/** Each type has a listener of its own on a stream; the compiler sees to it that none is forgotten. */
const types: Record<PublicEventType, true> = {
  'intent.created': true,
  'intent.planned': true,
  'intent.executing': true,
  'intent.step_started': true,
  'intent.step_progressed': true,
  'intent.step_completed': true,
  'intent.step_failed': true,
  'intent.step_reverted': true,
  'intent.delayed': true,
  'intent.delay_over': true,
  'intent.completed': true,
  'intent.failed': true,
  'intent.cancelled': true,
  'intent.recovered': true,
  'intent.reopened': true,
  'wallet.created': true,
  'wallet.funded': true,
  'credits.low': true,
  'credits.exhausted': true,
  'webhook.test': true,
  'webhook.disabled': true,
}

/** After a refusal the browser gives up by itself; then it is tried anew. */
const RETRY_MS = 5_000
/** Events come in bursts: what they make stale is asked for once. */
const GATHER_MS = 120

const listeners = new Set<() => void>()
let isCut = false

function setCut(value: boolean): void {
  if (isCut === value) return
  isCut = value
  for (const listener of listeners) listener()
}

/** True while the stream is interrupted: what is shown may be old. */
export const useIsCut = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isCut,
  )

/** One stream for the page. The browser resumes it after the last event that it has seen. */
export function useLive(): void {
  useEffect(() => {
    const stopping = new AbortController()
    follow(stopping.signal)
    return () => stopping.abort()
  }, [])
}

function follow(stopping: AbortSignal): void {
  if (stopping.aborted) return
  const source = new EventSource('/dashboard/api/events')
  const refresh = createRefresher()
  const onEvent = ({ data }: MessageEvent<string>) => refresh(JSON.parse(data) as Told)
  for (const type of Object.keys(types)) source.addEventListener(type, onEvent)
  source.addEventListener('open', () => {
    // What came while the stream was cut may be more than it repeats.
    if (isCut) void queryClient.invalidateQueries()
    setCut(false)
  })
  source.addEventListener('error', () => {
    setCut(true)
    if (source.readyState !== EventSource.CLOSED) return
    setTimeout(() => follow(stopping), RETRY_MS)
  })
  stopping.addEventListener('abort', () => source.close())
}

/** Makes stale what an event is about, and with it whatever is on the screen comes anew. */
function createRefresher(): (event: Told) => void {
  const keys = new Map<string, readonly string[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  return ({ intentId, walletId }) => {
    const stale = [
      ['intents', 'list'],
      ['overview'],
      ['credits'],
      ...(intentId ? [['intents', 'one', intentId]] : []),
      ...(walletId
        ? [
            ['balances', walletId],
            ['positions', walletId],
          ]
        : []),
    ]
    for (const key of stale) keys.set(key.join(), key)
    timer ??= setTimeout(() => {
      timer = undefined
      const due = [...keys.values()]
      keys.clear()
      for (const queryKey of due) void queryClient.invalidateQueries({ queryKey })
    }, GATHER_MS)
  }
}
