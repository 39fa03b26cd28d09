import { useEffect, useSyncExternalStore } from 'react'
import { queryClient } from './api/client.js'
import { eventTypes } from './api/eventTypes.js'
import type { Query } from '@tanstack/react-query'
import type { z } from 'zod'
import type { event } from '../../api/schemas/events.js'

type Told = z.infer<typeof event>

/** After a refusal the browser gives up by itself; then it is tried anew. */
const RETRY_MS = 5_000
/** Events come in bursts: what they make stale is asked for once. */
const GATHER_MS = 120

/** What events tell of: the first words of its keys. */
const told = new Set<unknown>(['intents', 'overview', 'webhooks', 'balances', 'positions'])
const isTold = ({ queryKey: [name] }: Query) => told.has(name)

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
  // Each type has a listener of its own on a stream.
  for (const type of eventTypes) source.addEventListener(type, onEvent)
  source.addEventListener('open', () => {
    // What came while the stream was cut may be more than it repeats.
    if (isCut) void queryClient.invalidateQueries()
    // A new one tells of what comes from then on: what was asked for before may lack what came in between.
    else setTimeout(() => void queryClient.invalidateQueries({ predicate: isTold }), GATHER_MS)
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
      ['webhooks'],
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
