import { z } from 'zod'
import { getIntent, type Intent } from '../db/intents.js'
import { getWallet } from '../db/wallets.js'
import {
  intentBody as intentSchema,
  isTerminal,
  laterStatus,
  resultsOf,
  safeText,
  type Effect,
  type ExecutionPlan,
  type IntentRequest,
  type Progress,
  type Step,
} from '../domain/intent.js'
import { fromUnits, toUnits } from '../domain/money.js'
import { prices } from '../domain/tiers.js'
import { storeIntent } from '../planning/intents.js'
import { readMarket } from '../planning/market.js'
import { startIntent } from '../temporal/start.js'
import { completedIntent, lendRequest, plannedIntent } from './examples.js'
import { noParams, noQuery, readRoute, writeRoute } from './route.js'
import { intent as intentResource } from './schemas.js'
import type { Chain } from '../chains/registry.js'
import type { Services } from './services.js'

const createIntent = writeRoute(
  {
    path: '/intents',
    credits: prices.createIntent,
    params: noParams,
    query: noQuery,
    body: intentSchema,
    docs: {
      operationId: 'createIntent',
      tag: 'Intents',
      summary: 'Create and execute an intent',
      description:
        'The intent is planned at once and executed asynchronously. Poll `GET /intents/{intentId}` every 5 to 10 seconds.',
      requests: { lend: lendRequest },
      responses: {
        201: {
          description: 'The intent was created and is being executed.',
          schema: intentResource,
          examples: { planning: plannedIntent },
        },
      },
      errors: ['INSUFFICIENT_FUNDS', 'WALLET_NOT_FOUND'],
    },
  },
  async (services, { account, requestId, body }, commit) => {
    const { db, chains, temporal, log } = services
    const { accountId, plan } = account
    const { decimals } = tokenOf(services)
    const request = toRequest(services, body)
    const wallet = await getWallet(db, accountId, body.walletId)
    const market = await readMarket(db, chains, wallet.address)
    const owner = { accountId, walletId: wallet.id, requestId }
    let intent: Intent | undefined
    const answer = await commit(async (trx) => {
      intent = await storeIntent(services, trx, owner, request, market)
      return { status: 201, body: intentBody(intent, [], undefined, decimals) }
    })
    // The row is durable from here on: a start that fails or is late is the sweeper's.
    if (intent) {
      await startIntent(temporal, db, { intent, plan, decimals }).catch((error: unknown) => {
        log.warn({ err: error, intent: intent?.id, requestId }, 'workflow not started yet')
      })
    }
    return answer
  },
)

const readIntent = readRoute(
  {
    path: '/intents/:intentId',
    credits: prices.readIntent,
    params: z.object({ intentId: safeText(64) }),
    query: noQuery,
    docs: {
      operationId: 'getIntent',
      tag: 'Intents',
      summary: 'Get the state of an intent',
      responses: {
        200: {
          description: 'The intent.',
          schema: intentResource,
          examples: { completed: completedIntent, planning: plannedIntent },
        },
      },
      errors: ['INTENT_NOT_FOUND'],
    },
  },
  async (services, { account, params }) => {
    const { db, readProgress } = services
    const { intent, effects } = await getIntent(db, account.accountId, params.intentId)
    const progress = isTerminal(intent.status) ? undefined : await readProgress(intent.id)
    return { status: 200, body: intentBody(intent, effects, progress, tokenOf(services).decimals) }
  },
)

export const intentRoutes = [createIntent, readIntent]

/** Every chain of a deployment lists the same USDC, of the same decimals. */
const tokenOf = ({ registry }: Services) => (registry.chains[0] as Chain).usdc

function toRequest(
  services: Services,
  { action, amount, asset, chain }: z.infer<typeof intentSchema>,
): IntentRequest {
  const amountUnits = toUnits(amount, tokenOf(services).decimals)
  if (chain === undefined) return { action, asset, amountUnits }
  return { action, asset, amountUnits, chain: services.registry.resolve(chain).name }
}

/**
 * The intent resource. The row is the body; a running workflow may know more and then raises the status
 * and the count of finished steps, it never lowers them.
 */
function intentBody(
  intent: Intent,
  effects: Effect[],
  progress: Progress | undefined,
  decimals: number,
) {
  const { plan, error, completedAt } = intent
  // Told before its plan was read, progress would speak of steps that the body does not show.
  const running = plan && progress && !isTerminal(progress.status) ? progress : undefined
  const status = running ? laterStatus(intent.status, running.status) : intent.status
  return {
    id: intent.id,
    walletId: intent.walletId,
    status,
    action: intent.action,
    amount: Number(fromUnits(BigInt(intent.units), decimals)),
    asset: intent.asset,
    ...(plan ? { executionPlan: planBody(plan) } : {}),
    ...(plan && status !== 'pending' && status !== 'planning'
      ? { results: resultsBody(plan, effects, running, decimals) }
      : {}),
    ...(error ? { error } : {}),
    createdAt: intent.createdAt.toISOString(),
    ...(completedAt ? { completedAt: completedAt.toISOString() } : {}),
  }
}

function resultsBody(
  plan: ExecutionPlan,
  effects: Effect[],
  progress: Progress | undefined,
  decimals: number,
) {
  const results = resultsOf(plan, effects, decimals)
  const completedSteps = Math.max(results.completedSteps, progress?.completedSteps ?? 0)
  return { ...results, completedSteps }
}

function planBody({ steps, ...plan }: ExecutionPlan) {
  return { ...plan, steps: steps.map(stepBody) }
}

const stepBody = ({ type, sequence, chain, protocol, asset, amount }: Step) => ({
  type,
  sequence,
  chain,
  protocol,
  asset,
  amount,
})
