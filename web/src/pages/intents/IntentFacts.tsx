import { Link } from '@tanstack/react-router'
import type { Intent } from '../../api/types.js'
import { percentText, usdText } from '../../text/amount.js'
import { chainText, protocolText, shorten } from '../../text/shorten.js'
import { Amount } from '../../ui/Amount.js'
import { Facts } from '../../ui/Facts.js'
import { Time } from '../../ui/Time.js'

/** What is known of an intent besides its steps. */
export function IntentFacts({ intent }: { intent: Intent }) {
  const { walletId, executionPlan: plan, results, createdAt, completedAt, retryOf } = intent
  return (
    <Facts
      of={[
        [
          'Wallet',
          <Link
            key="wallet"
            to="/wallets/$walletId"
            params={{ walletId }}
            title={walletId}
            className="font-mono text-xs text-accent hover:underline"
          >
            {shorten(walletId)}
          </Link>,
        ],
        ['Goes to', plan && chainText(plan.targetChain)],
        ['Market', plan?.targetProtocol && protocolText(plan.targetProtocol)],
        ['Expected rate', plan?.expectedApy !== undefined && percentText(plan.expectedApy)],
        [
          'Arrived',
          results?.finalAmount && <Amount amount={results.finalAmount} asset={intent.asset} />,
        ],
        [
          'Gas',
          results
            ? usdText(results.totalGasCostUsd)
            : plan && `about ${usdText(plan.estimatedGasUsd)}`,
        ],
        ['Estimated time', !completedAt && plan?.estimatedTime],
        ['Created', <Time key="created" at={createdAt} />],
        ['Completed', completedAt && <Time at={completedAt} />],
        [
          'Retry of',
          retryOf && (
            <Link
              to="/intents/$intentId"
              params={{ intentId: retryOf }}
              className="font-mono text-xs text-accent hover:underline"
            >
              {shorten(retryOf)}
            </Link>
          ),
        ],
      ]}
    />
  )
}
