import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { walletsQuery } from '../../api/queries.js'
import type { OverviewState } from '../../api/types.js'
import { Code } from '../../ui/feedback/Empty.js'
import { Section } from '../../ui/PageHead.js'
import { StateSign } from '../../ui/feedback/State.js'

type Props = { done: OverviewState['firstSteps'] }

/** The calls up to the first lend. Each step is checked off when it has happened. */
export function FirstSteps({ done }: Props) {
  const wallets = useInfiniteQuery(walletsQuery({ limit: 1 }))
  const walletId = wallets.data?.pages[0]?.data[0]?.id ?? 'svc_wallet_…'
  return (
    <Section title="First call">
      <ol className="space-y-6 border-t border-line pt-4">
        <Step isDone={done.keyUsed} title="Create an API key, store it in KEY and make a call">
          <Link to="/keys" className="text-sm font-medium text-accent hover:underline">
            Go to API keys
          </Link>
        </Step>
        <Step isDone={done.walletMade} title="Create a wallet for a user">
          <Code label="command" text={callOf('wallets', { userId: 'alice' })} />
        </Step>
        <Step isDone={done.moneyThere} title="Send test money to the wallet">
          <Code label="command" text={callOf('demo/fund', { walletId })} />
        </Step>
        <Step isDone={done.intentCompleted} title="Lend it at the best rate">
          <Code label="command" text={callOf('intents', { walletId, action: 'lend', amount: 1 })} />
        </Step>
      </ol>
    </Section>
  )
}

const callOf = (path: string, body: Record<string, unknown>) =>
  `curl -s ${location.origin}/v1/${path} -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`

function Step({
  isDone,
  title,
  children,
}: {
  isDone: boolean
  title: string
  children: ReactNode
}) {
  return (
    <li className="flex gap-3">
      <span className="mt-1">
        <StateSign state={isDone ? 'done' : 'open'} />
      </span>
      <div className="min-w-0 flex-1 space-y-2">
        <p className="text-sm font-medium">{title}</p>
        {children}
      </div>
    </li>
  )
}
