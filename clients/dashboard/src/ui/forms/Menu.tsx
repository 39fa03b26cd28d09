import * as Dropdown from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'

export type Entry = {
  label: string
  /** Unique key for entries with equal labels. */
  key?: string
  icon?: ReactNode
  /** Whether this entry of an exclusive group is selected. */
  isChosen?: boolean
  onSelect: () => void
}

/** A dropdown menu with the usual keyboard controls. */
export function Menu({
  trigger,
  label,
  groups,
}: {
  trigger: ReactNode
  label: string
  groups: Entry[][]
}) {
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content
          aria-label={label}
          sideOffset={6}
          align="start"
          collisionPadding={8}
          className="z-40 min-w-52 max-w-80 rounded-md border border-line bg-raised p-1 shadow-float motion-safe:animate-appear"
        >
          {groups
            .filter((entries) => entries.length > 0)
            .map((entries, index) => (
              <div
                key={entries[0]?.label}
                role="group"
                className={index > 0 ? 'mt-1 border-t border-line pt-1' : ''}
              >
                {entries.map(({ label: name, key = name, icon, isChosen, onSelect }) => (
                  <Dropdown.Item
                    key={key}
                    {...(isChosen !== undefined && radioOf(isChosen))}
                    onSelect={onSelect}
                    className="flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none data-highlighted:bg-hover"
                  >
                    <span className="inline-flex size-4 items-center text-ink-3">{icon}</span>
                    <span className={`truncate ${isChosen ? 'font-medium text-accent' : ''}`}>
                      {name}
                    </span>
                  </Dropdown.Item>
                ))}
              </div>
            ))}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  )
}

/** Announces the selected entry to screen readers. */
const radioOf = (isChosen: boolean) => ({ role: 'menuitemradio', 'aria-checked': isChosen })
