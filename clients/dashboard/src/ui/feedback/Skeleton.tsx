import { useEffect, useState } from 'react'

/** Content that arrives sooner needs no placeholder. */
const DELAY_MS = 150

/** Reserves the space of loading lines. The placeholder appears only after a delay. */
export function Skeleton({ lines, className = 'h-11' }: { lines: number; className?: string }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), DELAY_MS)
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
