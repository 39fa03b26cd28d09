import type { ReactNode } from 'react'

/** One line per name and value. Empty values are skipped. */
export function Facts({ of }: { of: [name: string, value: ReactNode][] }) {
  return (
    <dl className="text-sm">
      {of
        .filter(
          ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
        )
        .map(([name, value]) => (
          <div
            key={name}
            className="flex min-h-9 items-center justify-between gap-4 border-b border-line py-1.5"
          >
            <dt className="shrink-0 text-ink-3">{name}</dt>
            <dd className="min-w-0 text-right">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
