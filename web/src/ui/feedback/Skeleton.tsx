import { useEffect, useState } from 'react'

/** What comes sooner needs no placeholder. */
const PATIENCE_MS = 150

/** Holds the place of lines that are on their way, at their final height; it shows only when they take long. */
export function Skeleton({ lines, className = 'h-11' }: { lines: number; className?: string }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className={`flex items-center ${className}`}>
          {isLate && (
            <div className="h-3 w-full max-w-md rounded-sm bg-sunken motion-safe:animate-breathe" />
          )}
        </div>
      ))}
    </div>
  )
}
