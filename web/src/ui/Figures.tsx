import { Link } from '@tanstack/react-router'

type Figure = { name: string; value: string | undefined; to: '/credits' | '/yields' }

/** A few numbers, each of which leads to where it comes from. Their places are kept until they are known. */
export function Figures({ of }: { of: Figure[] }) {
  return (
    <dl className="mb-10 flex flex-wrap gap-y-4 border-y border-line py-4">
      {of.map(({ name, value, to }) => (
        <div
          key={to}
          className="flex min-w-44 flex-1 flex-col-reverse border-line pl-6 first:pl-0 not-first:border-l"
        >
          <dt className="text-xs text-ink-3">
            <Link to={to} className="hover:text-ink hover:underline">
              {name}
            </Link>
          </dt>
          <dd className="h-9 text-2xl">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
