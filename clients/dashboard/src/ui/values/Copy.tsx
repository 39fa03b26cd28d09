import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useState } from 'react'

const SHOWN_MS = 1_400

/** A button that copies a text and confirms it. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const Icon = isCopied ? Check : CopyIcon
  return (
    <button
      type="button"
      aria-label={isCopied ? 'Copied' : `Copy ${label}`}
      title={isCopied ? 'Copied' : `Copy ${label}`}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-ink-3 transition-colors hover:bg-hover hover:text-ink"
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => setCopied(true))
      }}
    >
      <Icon aria-hidden className={`size-3.5 ${isCopied ? 'text-done' : ''}`} />
    </button>
  )
}
