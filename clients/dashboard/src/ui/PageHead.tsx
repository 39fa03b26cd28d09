import { useEffect, useRef, type ReactNode } from 'react'
import { useFocusOnArrival } from './arrival.js'

type Props = { title: string; action?: ReactNode; children?: ReactNode }

/** The header of a page: title, also of the window, and primary action. A navigation moves the focus to it. */
export function PageHead({ title, action, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Steward`
  }, [title])
  const heading = useRef<HTMLHeadingElement>(null)
  useFocusOnArrival(heading)
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 ref={heading} tabIndex={-1} className="text-xl wrap-anywhere">
          {title}
        </h1>
        {children && <div className="mt-1 max-w-2xl text-sm text-ink-2">{children}</div>}
      </div>
      {action && <div className="flex items-center gap-2">{action}</div>}
    </header>
  )
}

/** A section of a page with a heading. */
export function Section({ title, action, children }: Props) {
  return (
    <section className="mb-10">
      <div className="mb-2 flex min-h-8 items-center justify-between gap-4">
        <h2 className="text-base">{title}</h2>
        {action}
      </div>
      {children}
    </section>
  )
}
