import { useEffect, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'

const SHOWN_MS = 6_000

/** A short message at the edge of the page. It disappears after some seconds. */
export function Notice({ children, isBad }: { children: ReactNode; isBad?: boolean }) {
  const [isShown, setShown] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setShown(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isShown) return null
  return createPortal(
    <div
      role={isBad ? 'alert' : 'status'}
      className={`fixed right-4 bottom-4 z-50 max-w-sm rounded-md border border-line bg-raised px-4 py-3 text-sm shadow-float motion-safe:animate-appear ${isBad ? 'text-failed' : ''}`}
    >
      {children}
    </div>,
    document.body,
  )
}
