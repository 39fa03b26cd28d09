import { Link } from '@tanstack/react-router'
import {
  Activity,
  ArrowLeftRight,
  BookOpen,
  CircleGauge,
  Coins,
  KeyRound,
  LineChart,
  ScrollText,
  Settings,
  Wallet,
  Webhook,
  type LucideIcon,
} from 'lucide-react'
import type { Session } from '../api/types.js'

type NavItem = { to: string; name: string; icon: LucideIcon }

/** The pages of every account. `letter` opens the page after `g`. */
export const navItems: (NavItem & { letter: string })[] = [
  { to: '/', name: 'Overview', icon: CircleGauge, letter: 'o' },
  { to: '/intents', name: 'Intents', icon: ArrowLeftRight, letter: 'i' },
  { to: '/wallets', name: 'Wallets', icon: Wallet, letter: 'w' },
  { to: '/yields', name: 'Yields', icon: LineChart, letter: 'y' },
  { to: '/keys', name: 'API keys', icon: KeyRound, letter: 'k' },
  { to: '/webhooks', name: 'Webhooks', icon: Webhook, letter: 'h' },
  { to: '/credits', name: 'Usage & credits', icon: Coins, letter: 'u' },
  { to: '/requests', name: 'Request log', icon: ScrollText, letter: 'r' },
  { to: '/settings', name: 'Settings', icon: Settings, letter: 's' },
]

/** The state of the deployment, only for operators. */
const systemItem: NavItem = { to: '/system', name: 'System', icon: Activity }

const shape = 'flex h-8 items-center gap-2.5 rounded-md px-2 text-sm transition-colors'
const quiet = 'text-ink-2 hover:bg-hover hover:text-ink'

/** The main navigation. */
export function Rail({ session }: { session: Session }) {
  return (
    <nav aria-label="Pages" className="space-y-0.5">
      {navItems.map((item) => (
        <RailLink key={item.to} item={item} />
      ))}
      <div className="my-2 border-t border-line" />
      <a href="/docs" className={`${shape} ${quiet}`}>
        <BookOpen aria-hidden className="size-4" strokeWidth={1.8} />
        Documentation
      </a>
      {session.user.isOperator && <RailLink item={systemItem} />}
      {session.user.isOperator && session.temporalUi && (
        <a href={session.temporalUi} className={`${shape} ${quiet}`}>
          <ArrowLeftRight aria-hidden className="size-4" strokeWidth={1.8} />
          Temporal UI
        </a>
      )}
    </nav>
  )
}

function RailLink({ item: { to, name, icon: Icon } }: { item: NavItem }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === '/' }}
      className={shape}
      activeProps={{ className: 'bg-accent-soft font-medium text-accent' }}
      inactiveProps={{ className: quiet }}
    >
      <Icon aria-hidden className="size-4" strokeWidth={1.8} />
      {name}
    </Link>
  )
}
