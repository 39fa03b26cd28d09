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

const items: NavItem[] = [
  { to: '/', name: 'Overview', icon: CircleGauge },
  { to: '/intents', name: 'Intents', icon: ArrowLeftRight },
  { to: '/wallets', name: 'Wallets', icon: Wallet },
  { to: '/yields', name: 'Yields', icon: LineChart },
  { to: '/keys', name: 'API keys', icon: KeyRound },
  { to: '/webhooks', name: 'Webhooks', icon: Webhook },
  { to: '/credits', name: 'Usage & credits', icon: Coins },
  { to: '/requests', name: 'Request log', icon: ScrollText },
  { to: '/settings', name: 'Settings', icon: Settings },
]

/** The state of the deployment, only for operators. */
const systemItem: NavItem = { to: '/system', name: 'System', icon: Activity }

const shape = 'flex h-8 items-center gap-2.5 rounded-md px-2 text-sm transition-colors'
const quiet = 'text-ink-2 hover:bg-hover hover:text-ink'

/** The main navigation. */
export function Rail({ session }: { session: Session }) {
  return (
    <nav aria-label="Pages" className="space-y-0.5">
      {items.map((item) => (
        <RailLink key={item.to} item={item} />
      ))}
      <div className="my-2 border-t border-line" />
      <a href="/docs" className={`${shape} ${quiet}`}>
        <BookOpen aria-hidden className="size-4" strokeWidth={1.8} />
        API reference
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
