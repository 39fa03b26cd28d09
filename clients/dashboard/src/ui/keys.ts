const typing = 'input, textarea, select, [contenteditable], dialog, [role=menu]'

/** Whether a key press is a shortcut: without a modifier, and outside of fields, dialogs and menus. */
export const isShortcut = ({ target, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  !metaKey && !ctrlKey && !altKey && !(target instanceof Element && target.closest(typing))
