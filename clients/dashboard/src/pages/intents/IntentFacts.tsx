import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sessionQuery } from '../../api/queries.js'
import type { Intent } from '../../api/types.js'
import { placeOf } from '../../shell/placeOf.js'
import { aboutUsd, percentText, usdText } from '../../text/amount.js'
import { marketText } from '../../text/names.js'
import { shorten } from '../../text/shorten.js'
import { Amount } from '../../ui/values/Amount.js'
import { Facts } from '../../ui/values/Facts.js'
import { Time } from '../../ui/values/Time.js'
import { WorkflowLink } from '../../ui/values/WorkflowLink.js'

/** The facts of an intent besides its steps. */
export function IntentFacts({ intent }: { intent: Intent }) {
  const { id, walletId, userId, requestId, createdAt, completedAt, endedAt } = intent
  const { retryOf, retriedBy } = intent
  const { data: session } = useQuery(sessionQuery)
  const isOperator = session?.user.isOperator && session.temporalUi !== undefined
  return (
    <Facts
      of={[
        [
          'User',
          userId && (
            <Link
              key="user"
              to="/wallets/$walletId"
              params={{ walletId }}
              title={userId}
              className="block truncate text-accent hover:underline"
            >
              {userId}
            </Link>
          ),
        ],
        [
          'Wallet',
          <Link
            key="wallet"
            to="/wallets/$walletId"
            params={{ walletId }}
            title={walletId}
            className={link}
          >
            {shorten(walletId)}
          </Link>,
        ],
        ...planFacts(intent),
        ...resultFacts(intent),
        ['Created', <Time key="created" at={createdAt} />],
        ['Completed', completedAt && <Time at={completedAt} />],
        ['Retry of', retryOf && <IntentLink id={retryOf} />],
        ['Retried by', retriedBy && <IntentLink id={retriedBy} />],
        ['Ended', !completedAt && endedAt && <Time at={endedAt} />],
        [
          'Created by request',
          requestId && (
            <Link key="request" {...placeOf(requestId)} title={requestId} className={link}>
              {shorten(requestId)}
            </Link>
          ),
        ],
        [
          'All requests',
          <Link
            key="requests"
            to="/requests"
            search={{ resourceId: id }}
            className="text-accent hover:underline"
          >
            about this intent
          </Link>,
        ],
        ['In Temporal', isOperator && <WorkflowLink intentId={id} />],
      ]}
    />
  )
}

function IntentLink({ id }: { id: string }) {
  return (
    <Link to="/intents/$intentId" params={{ intentId: id }} title={id} className={link}>
      {shorten(id)}
    </Link>
  )
}

const link = 'font-mono text-xs text-accent hover:underline'

type FactRows = [name: string, value: ReactNode][]

function planFacts({ executionPlan: plan }: Intent): FactRows {
  if (!plan) return []
  return [
    ['Destination', marketText({ protocol: plan.targetProtocol, chain: plan.targetChain })],
    ['Expected rate', plan.expectedApy !== undefined && percentText(plan.expectedApy)],
  ]
}

/** The results, or the estimates of an intent without results. */
function resultFacts({ executionPlan: plan, results, asset, completedAt }: Intent): FactRows {
  const expected: FactRows = [
    ['Gas', plan && aboutUsd(plan.estimatedGasUsd)],
    ['Estimated time', plan?.estimatedTime],
  ]
  if (!results) return expected
  return [
    ['Arrived', results.finalAmount && <Amount amount={results.finalAmount} asset={asset} />],
    ['Gas', usdText(results.totalGasCostUsd)],
    ...(completedAt ? [] : expected.slice(1)),
  ]
}
