import { useSyncExternalStore } from 'react'

const typing = 'input, textarea, select, [contenteditable], dialog, [role=menu]'

/** Whether a key press is a shortcut: without a modifier, and outside of fields, dialogs and menus. */
export const isShortcut = ({ target, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  areShortcutsOn() &&
  !(metaKey || ctrlKey || altKey) &&
  !(target instanceof Element && target.closest(typing))

const areShortcutsOn = () => localStorage.getItem('shortcuts') !== 'off'

/**
 * Turns the shortcuts of single keys on or off in this browser. Speech input presses single keys by accident.
 *
 * @see https://www.w3.org/TR/WCAG22/#character-key-shortcuts
 */
export function setShortcuts(areOn: boolean): void {
  if (areOn) localStorage.removeItem('shortcuts')
  else localStorage.setItem('shortcuts', 'off')
  // The browser sends this event to other windows only.
  dispatchEvent(new StorageEvent('storage'))
}

export const useAreShortcutsOn = (): boolean =>
  useSyncExternalStore((listener) => {
    addEventListener('storage', listener)
    return () => removeEventListener('storage', listener)
  }, areShortcutsOn)
