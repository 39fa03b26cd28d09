import { Ellipsis } from 'lucide-react'
import { Menu, type Entry } from './Menu.js'

/** The menu of a row's actions. */
export function Actions({ label, entries }: { label: string; entries: Entry[] }) {
  return (
    <span className="relative z-10">
      <Menu
        label={label}
        trigger={
          <button
            type="button"
            aria-label={`Actions for ${label}`}
            className="inline-flex size-7 items-center justify-center rounded-sm text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
        groups={[entries]}
      />
    </span>
  )
}
