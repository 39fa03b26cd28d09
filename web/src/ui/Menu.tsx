import * as Dropdown from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'

type Entry = { label: string; icon?: ReactNode; isChosen?: boolean; onSelect: () => void }

/** Opens below its button; arrows, letters and Escape do what they do everywhere. */
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
          className="z-40 min-w-52 rounded-md border border-line bg-raised p-1 shadow-float motion-safe:animate-appear"
        >
          {groups.map((entries, index) => (
            <div
              key={entries[0]?.label}
              className={index > 0 ? 'mt-1 border-t border-line pt-1' : ''}
            >
              {entries.map(({ label: name, icon, isChosen, onSelect }) => (
                <Dropdown.Item
                  key={name}
                  onSelect={onSelect}
                  className="flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none data-highlighted:bg-hover"
                >
                  <span className="inline-flex size-4 items-center text-ink-3">{icon}</span>
                  <span className={isChosen ? 'font-medium text-accent' : ''}>{name}</span>
                </Dropdown.Item>
              ))}
            </div>
          ))}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  )
}
