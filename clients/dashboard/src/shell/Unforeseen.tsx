import { Link, useRouter } from '@tanstack/react-router'
import { Failure } from '../ui/feedback/Failure.js'

/** Shown for a page that failed to render. */
export function Unforeseen({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <div className="mx-auto max-w-xl p-6 md:p-12">
      <Failure error={error} retry={() => void router.invalidate()} />
    </div>
  )
}

/** Shown for an unknown address. */
export function NotFound() {
  return (
    <div className="mx-auto max-w-xl space-y-3 p-6 md:p-12">
      <h1 className="text-xl">Page not found</h1>
      <p className="text-sm text-ink-2">The address may be incomplete, or from another version.</p>
      <Link to="/" className="text-sm font-medium text-accent hover:underline">
        Go to the overview
      </Link>
    </div>
  )
}
