import { Link } from '@tanstack/react-router'

type FigureLink = '/credits' | '/requests' | '/yields'
type KeyFigure = {
  name: string
  value: string | undefined
  to?: FigureLink
  hint?: string | undefined
}

/** Key figures, optionally with links. Loading values keep their space. */
export function Figures({ of }: { of: KeyFigure[] }) {
  return (
    <dl className="mb-10 flex flex-wrap gap-y-4 border-y border-line py-4 max-sm:flex-col">
      {of.map(({ name, value, to, hint }, index) => (
        <div
          key={index}
          className="flex min-w-44 flex-1 basis-0 flex-col-reverse justify-end border-line sm:px-6 sm:first:pl-0 sm:not-first:border-l"
        >
          <dt className="text-xs text-ink-3" title={hint}>
            {to ? (
              <Link to={to} className="hover:text-ink hover:underline">
                {name}
              </Link>
            ) : (
              name
            )}
          </dt>
          <dd className="h-9 text-2xl" title={hint}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}
