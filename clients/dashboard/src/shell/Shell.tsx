import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate, useLocation } from '@tanstack/react-router'
import { Menu as MenuIcon, Search as SearchIcon, X } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { isFailure } from '../api/call.js'
import { sessionQuery } from '../api/queries.js'
import { useIsInterrupted, useLive } from '../live.js'
import { useArrivals } from '../ui/arrival.js'
import { useAreShortcutsOn } from '../ui/keys.js'
import { Account } from './Account.js'
import { Environment } from './Environment.js'
import { Rail } from './Rail.js'
import { OpenSearch } from './WaysOn.js'
import { Search } from './Search.js'
import { ShortcutHelp } from './ShortcutHelp.js'
import { useShortcuts } from './shortcuts.js'

/** The frame of every page of a signed-in user. */
export function Shell() {
  const { data: session, error } = useQuery(sessionQuery)
  const [isOpen, setOpen] = useState(false)
  const [dialog, setDialog] = useState<'search' | 'help'>()
  const openSearch = useCallback(() => setDialog('search'), [])
  const openHelp = useCallback(() => setDialog('help'), [])
  const close = () => setDialog(undefined)
  const { pathname, href } = useLocation()
  const navigate = useNavigate()
  useLive()
  useArrivals()
  useShortcuts({ openSearch, openHelp })
  useEffect(() => setOpen(false), [pathname])
  // An unreachable service does not sign the user out; the page stays.
  const isOut = isFailure(error, 'UNAUTHORIZED')
  useEffect(() => {
    if (isOut) void navigate({ to: '/sign-in', search: { next: href } })
  }, [isOut, navigate, href])
  if (!session) return null
  return (
    <div className="md:grid md:min-h-dvh md:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:p-2"
      >
        Skip to the content
      </a>
      <aside className="border-line bg-rail max-md:border-b md:border-r">
        <div className="flex flex-col gap-3 p-3 md:sticky md:top-0 md:h-dvh md:gap-4 md:p-4">
          <div className="flex items-center gap-2">
            <div className="min-w-0 flex-1">
              <Account session={session} onHelp={openHelp} />
            </div>
            <Environment environment={session.environment} />
            <ShellButton
              label={isOpen ? 'Close the menu' : 'Open the menu'}
              isOpen={isOpen}
              onClick={() => setOpen(!isOpen)}
            />
          </div>
          <div className={`${isOpen ? 'block' : 'hidden'} md:block`}>
            <SearchButton onClick={openSearch} />
            <Rail session={session} />
          </div>
        </div>
      </aside>
      <div className="min-w-0">
        <InterruptionNotice />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto max-w-[1168px] p-4 outline-none md:p-6 lg:py-8"
        >
          <OpenSearch value={openSearch}>
            <Outlet />
          </OpenSearch>
        </main>
      </div>
      {dialog === 'search' && <Search onClose={close} />}
      {dialog === 'help' && <ShortcutHelp onClose={close} />}
    </div>
  )
}

function ShellButton({
  label,
  isOpen,
  onClick,
}: {
  label: string
  isOpen: boolean
  onClick: () => void
}) {
  const Icon = isOpen ? X : MenuIcon
  return (
    <button
      type="button"
      aria-label={label}
      aria-expanded={isOpen}
      className="inline-flex size-8 items-center justify-center rounded-md text-ink-2 hover:bg-hover md:hidden"
      onClick={onClick}
    >
      <Icon aria-hidden className="size-5" />
    </button>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      className="mb-3 flex h-8 w-full items-center gap-2 rounded-md border border-line bg-raised px-2 text-sm text-ink-3 transition-colors hover:border-line-strong"
      onClick={onClick}
    >
      <SearchIcon aria-hidden className="size-3.5" />
      <span className="flex-1 text-left">Find any id</span>
      {useAreShortcutsOn() && <kbd className="rounded-sm border border-line px-1 text-xs">/</kbd>}
    </button>
  )
}

/** Warns that the page may be stale. The data stays on screen. */
function InterruptionNotice() {
  if (!useIsInterrupted()) return null
  return (
    <p role="status" className="bg-waiting-soft px-4 py-1.5 text-center text-sm text-waiting">
      Live updates are interrupted. This page may be stale; it reconnects automatically.
    </p>
  )
}
