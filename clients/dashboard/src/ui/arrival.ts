import { useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, type RefObject } from 'react'

/** Whether the user has followed a link and has not acted since. */
let isArriving = false

/** Notes each navigation to another page. The first page of a visit is none. */
export function useArrivals(): void {
  const router = useRouter()
  useEffect(() => {
    const stop = () => {
      isArriving = false
    }
    const unsubscribe = router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
      if (fromLocation && pathChanged) isArriving = true
    })
    // In the capture phase, before the handlers that navigate.
    document.addEventListener('keydown', stop, true)
    document.addEventListener('pointerdown', stop, true)
    return () => {
      unsubscribe()
      document.removeEventListener('keydown', stop, true)
      document.removeEventListener('pointerdown', stop, true)
    }
  }, [router])
}

/** Moves the focus to the heading of a page after a navigation, unless the user or a field has taken it since. */
export function useFocusOnArrival(heading: RefObject<HTMLElement | null>): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  useEffect(() => {
    if (!isArriving) return
    isArriving = false
    if (document.activeElement?.matches('main :is(input, textarea, select)')) return
    heading.current?.focus({ preventScroll: true })
  }, [heading, pathname])
}
