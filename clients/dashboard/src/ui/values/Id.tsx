import { ArrowUpRight } from 'lucide-react'
import { shorten } from '../../text/shorten.js'
import { Copy } from './Copy.js'

type Props = { id: string; label?: string; href?: string | undefined; isWhole?: boolean }

/** A shortened identifier, complete on hover and when copied. `href` links to an explorer. */
export function Id({ id, label = 'id', href, isWhole }: Props) {
  const text = isWhole ? id : shorten(id)
  return (
    <span className="inline-flex max-w-full min-w-0 items-center align-middle gap-1 font-mono text-xs text-ink-2">
      {href ? (
        <a href={href} target="_blank" rel="noreferrer" className="hover:text-accent" title={id}>
          {text}
          <ArrowUpRight aria-label="opens the explorer" className="ml-0.5 inline size-3" />
        </a>
      ) : (
        <span className="truncate" title={id}>
          {text}
        </span>
      )}
      <Copy text={id} label={label} />
    </span>
  )
}
