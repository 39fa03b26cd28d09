import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isShortcut } from '../ui/keys.js'
import { navItems } from './Rail.js'

/** The second key of a sequence such as `g i` follows within this time. */
const SEQUENCE_MS = 1_500

type ShellActs = { openSearch: () => void; openHelp: () => void }

const isSearchCommand = ({ metaKey, ctrlKey, key }: KeyboardEvent) =>
  (metaKey || ctrlKey) && key === 'k'

/** The shortcuts of every page. ⌘K and Ctrl+K also work while the user types. */
export function useShortcuts({ openSearch, openHelp }: ShellActs): void {
  const navigate = useNavigate()
  useEffect(() => {
    let goAt = -SEQUENCE_MS
    const actOf = (event: KeyboardEvent): (() => void) | undefined => {
      if (isSearchCommand(event)) return openSearch
      if (!isShortcut(event)) return undefined
      const isSecond = event.timeStamp - goAt < SEQUENCE_MS
      goAt = event.key === 'g' ? event.timeStamp : -SEQUENCE_MS
      const page = isSecond && navItems.find(({ letter }) => letter === event.key)
      if (page) return () => void navigate({ to: page.to })
      return { '/': openSearch, '?': openHelp }[event.key]
    }
    const onKey = (event: KeyboardEvent) => {
      const act = actOf(event)
      if (!act) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, openSearch, openHelp])
}
