import { useNavigate } from '@tanstack/react-router'
import {
  ChevronsUpDown,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Settings,
  Sun,
  type LucideIcon,
} from 'lucide-react'
import { post } from '../api/call.js'
import { forgetUser } from '../api/client.js'
import type { Session } from '../api/types.js'
import { Menu } from '../ui/forms/Menu.js'
import { useAccountEntries } from './accounts.js'
import { setTheme, themes, useTheme, type Theme } from './theme.js'

const themeIcons: Record<Theme, LucideIcon> = { system: Monitor, light: Sun, dark: Moon }
const themeNames: Record<Theme, string> = { system: 'System theme', light: 'Light', dark: 'Dark' }

/** The menu of the account: switch the account, choose a theme, show the shortcuts, sign out. */
export function Account({ session, onHelp }: { session: Session; onHelp: () => void }) {
  const navigate = useNavigate()
  const theme = useTheme()
  const accounts = useAccountEntries()
  const signOut = async () => {
    await post('/session/end')
    forgetUser()
    await navigate({ to: '/sign-in', search: {} })
  }
  const looks = themes.map((name) => {
    const Icon = themeIcons[name]
    const icon = <Icon aria-hidden className="size-4" />
    const isChosen = name === theme
    return { label: themeNames[name], icon, isChosen, onSelect: () => setTheme(name) }
  })
  return (
    <Menu
      label="Account"
      trigger={
        <button
          type="button"
          className="flex w-full min-w-0 items-center gap-2 rounded-md p-1 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm bg-accent-fill text-xs font-medium text-on-accent"
          >
            {session.account.name.charAt(0).toUpperCase()}
          </span>
          <span className="min-w-0 flex-1 truncate text-sm font-medium">
            {session.account.name}
          </span>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        </button>
      }
      groups={[
        accounts,
        looks,
        [
          {
            label: `Settings of ${session.user.email}`,
            icon: <Settings aria-hidden className="size-4" />,
            onSelect: () => void navigate({ to: '/settings' }),
          },
          {
            label: 'Keyboard shortcuts',
            icon: <Keyboard aria-hidden className="size-4" />,
            onSelect: onHelp,
          },
          {
            label: 'Sign out',
            icon: <LogOut aria-hidden className="size-4" />,
            onSelect: () => void signOut(),
          },
        ],
      ]}
    />
  )
}
