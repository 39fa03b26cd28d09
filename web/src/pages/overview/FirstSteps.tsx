import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Wallet } from '../../api/types.js'
import { Code } from '../../ui/Empty.js'
import { Section } from '../../ui/PageHead.js'
import { StateSign } from '../../ui/State.js'

type Props = { hasUsedKey: boolean | undefined; wallet: Wallet | undefined }

/** Three calls from nothing to a first lend, ticked off by what has really happened. */
export function FirstSteps({ hasUsedKey = false, wallet }: Props) {
  const api = `${location.origin}/v1`
  const head = `-H "Authorization: Bearer $KEY" -H 'Content-Type: application/json'`
  const walletId = wallet?.id ?? 'svc_wallet_…'
  return (
    <Section title="First call">
      <ol className="space-y-6 border-t border-line pt-4">
        <Step isDone={hasUsedKey} title="Make an API key and keep it in KEY">
          <Link to="/keys" className="text-sm font-medium text-accent hover:underline">
            Go to API keys
          </Link>
        </Step>
        <Step
          isDone={wallet !== undefined}
          title="Make a wallet for a user, and send it test money"
        >
          <Code
            label="command"
            text={`curl -s ${api}/wallets ${head} \\\n  -d '{"userId":"alice"}'\ncurl -s ${api}/demo/fund ${head} \\\n  -d '{"walletId":"${walletId}"}'`}
          />
        </Step>
        <Step isDone={false} title="Lend it where it pays most">
          <Code
            label="command"
            text={`curl -s ${api}/intents ${head} \\\n  -d '{"walletId":"${walletId}","action":"lend","amount":1}'`}
          />
        </Step>
      </ol>
    </Section>
  )
}

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
