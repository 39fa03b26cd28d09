import { TriangleAlert } from 'lucide-react'
import { ApiFailure } from '../../api/call.js'
import { namesIn } from '../../text/names.js'
import { Button } from '../forms/Button.js'
import { Copy } from '../values/Copy.js'

type Props = { error: unknown; retry?: () => void }

/** An error with its message, request id and retry button. */
export function Failure({ error, retry }: Props) {
  const message = error instanceof Error ? namesIn(error.message) : 'Something went wrong.'
  const requestId = error instanceof ApiFailure ? error.requestId : undefined
  return (
    <div
      role="alert"
      className="flex gap-3 self-start rounded-md border border-line bg-failed-soft p-4"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-failed" />
      <div className="min-w-0 flex-1 space-y-2">
        <p className="break-words text-sm">{message}</p>
        {requestId && (
          <p className="flex items-center gap-1 text-xs text-ink-2">
            Request <code className="truncate">{requestId}</code>
            <Copy text={requestId} label="request id" />
          </p>
        )}
        {retry && <Button onClick={retry}>Try again</Button>}
      </div>
    </div>
  )
}
