import { useSyncExternalStore } from 'react'
import { readStored, store } from './stored.js'

const typing = 'input, textarea, select, [contenteditable], dialog, [role=menu]'

/** Whether a key press is a shortcut: without a modifier, and outside of fields, dialogs and menus. */
export const isShortcut = ({ target, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  areShortcutsOn() &&
  !(metaKey || ctrlKey || altKey) &&
  !(target instanceof Element && target.closest(typing))

let areOn = readStored('shortcuts') !== 'off'
const listeners = new Set<() => void>()

const areShortcutsOn = () => areOn

/**
 * Turns the shortcuts of single keys on or off in this browser. Speech input presses single keys by accident.
 *
 * @see https://www.w3.org/TR/WCAG22/#character-key-shortcuts
 */
export function setShortcuts(value: boolean): void {
  areOn = value
  store('shortcuts', value ? 'on' : 'off')
  for (const listener of listeners) listener()
}

export const useAreShortcutsOn = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, areShortcutsOn)
