import { useRouter } from '@tanstack/react-router'
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
