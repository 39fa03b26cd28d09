import { Dialog } from '../ui/dialogs/Dialog.js'
import { setShortcuts, useAreShortcutsOn } from '../ui/keys.js'
import { navItems } from './Rail.js'

type Shortcut = [keys: string[], effect: string]

const general: Shortcut[] = [
  [['/'], 'Find any id'],
  [['Ctrl', 'K'], 'Find while typing'],
  [['?'], 'Show the shortcuts'],
  [['Esc'], 'Close a dialog'],
]
const rows: Shortcut[] = [
  [['j'], 'Next row of a list'],
  [['k'], 'Previous row of a list'],
  [['Enter'], 'Open the row'],
]
const pages = navItems.map(({ letter, name }): Shortcut => [['g', letter], name])

/** All keyboard shortcuts, and a switch for those of a single key. They do nothing while the user types. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        <Group title="Pages" shortcuts={pages} />
        <div className="space-y-5">
          <Group title="Everywhere" shortcuts={general} />
          <Group title="Lists" shortcuts={rows} />
        </div>
      </div>
      <Switch />
    </Dialog>
  )
}

function Switch() {
  return (
    <label className="mt-5 flex items-center gap-2 border-t border-line pt-4 text-sm">
      <input
        type="checkbox"
        role="switch"
        className="size-3.5 accent-accent-fill"
        checked={useAreShortcutsOn()}
        onChange={({ target }) => setShortcuts(target.checked)}
      />
      Single-key shortcuts
    </label>
  )
}

function Group({ title, shortcuts }: { title: string; shortcuts: Shortcut[] }) {
  return (
    <section>
      <h3 className="mb-1 text-sm">{title}</h3>
      <dl className="text-sm">
        {shortcuts.map(([keys, effect]) => (
          <div key={effect} className="flex min-h-8 items-center justify-between gap-4">
            <dt className="text-ink-2">{effect}</dt>
            <dd className="flex shrink-0 gap-1">
              {keys.map((key) => (
                <kbd key={key} className="rounded-sm border border-line px-1.5 text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
