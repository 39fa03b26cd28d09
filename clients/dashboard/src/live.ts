import { useEffect, useSyncExternalStore } from 'react'
import { queryClient } from './api/client.js'
import { eventTypes } from './api/eventTypes.js'
import type { Query } from '@tanstack/react-query'
import type { z } from 'zod'
import type { event } from '../../../api/schemas/events.js'

type LiveEvent = z.infer<typeof event>

/** Delay before reconnecting after the browser has closed the stream. */
const RETRY_MS = 5_000
/** Events arrive in bursts. The queries that they invalidate are collected for this time. */
const BATCH_MS = 120

/** The resources that events invalidate: first elements of query keys. */
const liveResources = new Set<unknown>(['intents', 'overview', 'webhooks', 'balances', 'positions'])
const isLive = ({ queryKey: [name] }: Query) => liveResources.has(name)

const listeners = new Set<() => void>()
let isInterrupted = false

function setInterrupted(value: boolean): void {
  if (isInterrupted === value) return
  isInterrupted = value
  for (const listener of listeners) listener()
}

/** True while the event stream is interrupted and the page may be stale. */
export const useIsInterrupted = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isInterrupted,
  )

/** Opens the event stream of the page. The browser resumes it after the last received event. */
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
  const onEvent = ({ data }: MessageEvent<string>) => refresh(JSON.parse(data) as LiveEvent)
  for (const type of eventTypes) source.addEventListener(type, onEvent)
  source.addEventListener('open', () => {
    // The stream may not replay all events of the interruption.
    if (isInterrupted) void queryClient.invalidateQueries()
    // Data loaded before the stream opened may miss the events in between.
    else setTimeout(() => void queryClient.invalidateQueries({ predicate: isLive }), BATCH_MS)
    setInterrupted(false)
  })
  source.addEventListener('error', () => {
    setInterrupted(true)
    if (source.readyState !== EventSource.CLOSED) return
    setTimeout(() => follow(stopping), RETRY_MS)
  })
  stopping.addEventListener('abort', () => source.close())
}

/** Invalidates the queries that an event affects, so that visible data reloads. */
function createRefresher(): (event: LiveEvent) => void {
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
    }, BATCH_MS)
  }
}
