import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { attentionQuery } from '../../api/queries.js'
import type { AttentionItem } from '../../api/types.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { StateSign } from '../../ui/feedback/State.js'
import { Section } from '../../ui/PageHead.js'
import { useNow } from '../../ui/values/Time.js'
import { sentenceOf } from './attentionText.js'

/** What needs attention, each with a link to its page. */
export function Attention() {
  const { data, error, refetch } = useQuery(attentionQuery)
  return (
    <Section title="Needs attention">
      {data ? (
        data.data.length > 0 ? (
          <ul className="border-t border-line">
            {data.data.map((item, index) => (
              <Item key={index} item={item} />
            ))}
          </ul>
        ) : (
          <p className="flex items-center gap-2 border-y border-line py-3 text-sm text-ink-2">
            <StateSign state="done" />
            Nothing needs attention.
          </p>
        )
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={1} />
      )}
    </Section>
  )
}

function Item({ item }: { item: AttentionItem }) {
  const { state, text, detail } = sentenceOf(item, new Date(useNow()))
  const link = linkOf(item)
  const line = (
    <>
      <StateSign state={state} />
      <span className="min-w-0 flex-1">
        {text}
        {detail && <span className="ml-2 text-ink-3">{detail}</span>}
      </span>
      {link && <ChevronRight aria-hidden className="size-4 shrink-0 text-ink-3" />}
    </>
  )
  const look = 'flex min-h-11 items-center gap-2.5 py-2 text-sm'
  return (
    <li className="border-b border-line">
      {link ? (
        <Link {...link} className={`${look} hover:bg-hover`}>
          {line}
        </Link>
      ) : (
        <div className={look}>{line}</div>
      )}
    </li>
  )
}

const WEEK_MS = 7 * 86_400_000

/** Failures of a week are counted. */
const weekAgo = () => new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10)

/** The page with its filter. A pause of the deployment or the account has none. */
function linkOf(item: AttentionItem): LinkProps | undefined {
  switch (item.kind) {
    case 'failed':
      return { to: '/intents', search: { status: 'failed', from: weekAgo() } }
    case 'waiting':
      return { to: '/intents', search: { status: 'pending,planning,executing' } }
    case 'webhook':
      return {
        ...{ to: '/webhooks/$webhookId', params: { webhookId: item.id } },
        search:
          item.failed > 0 ? { status: 'failed' } : item.pending > 0 ? { status: 'pending' } : {},
      }
    case 'credits':
      return { to: '/credits', search: {} }
    case 'key':
      return { to: '/keys', search: { keyId: item.id } }
    case 'paused':
      return item.scope === 'wallet'
        ? { to: '/wallets/$walletId', params: { walletId: item.subject } }
        : undefined
  }
}
