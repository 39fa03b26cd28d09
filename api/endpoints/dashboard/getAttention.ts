import {
  countRetryable,
  readExpiringKeys,
  readFailingWebhooks,
  readOwnPauses,
  MOST_COUNTED,
} from '../../../db/usage/attention.js'
import { listIntents } from '../../../db/intents/listIntents.js'
import { readCredits } from '../../../db/usage/metering.js'
import { readMonth } from '../../../db/usage/overview.js'
import { isTerminal, statuses } from '../../../domain/intent/intent.js'
import { MINUTE_MS } from '../../../runtime/durations.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { noQuery } from '../../http/input.js'
import { intentBody } from '../intents/intentBody.js'
import { anyMemberReads } from './memberSpecs.js'
import type { Db } from '../../../db/client/connect.js'
import type { WaitingFor } from '../../../domain/intent/waiting.js'
import type { Registry } from '../../../evm/registry.js'
import type { AttentionItem } from '../../schemas/activity.js'
import type { Services } from '../../http/services.js'

export const getAttention = memberRoute(
  { ...anyMemberReads, path: '/attention', query: noQuery },
  async (services, { caller: { accountId } }) => {
    const { db } = services
    const found = await Promise.all([
      findPauses(services, accountId),
      findFailed(db, accountId),
      findWaiting(services, accountId),
      findWebhooks(db, accountId),
      findLowCredits(db, accountId),
      findKeys(db, accountId),
    ])
    return { status: 200, body: { data: found.flat() } }
  },
)

/** Pauses of chains that the deployment no longer has are left out. */
async function findPauses(
  { db, registry }: Pick<Services, 'db' | 'registry'>,
  accountId: string,
): Promise<AttentionItem[]> {
  const pauses = await readOwnPauses(db, accountId)
  return pauses.flatMap(({ scope, subject: id, since }) => {
    const subject = scope === 'chain' ? chainName(registry, id) : id
    return subject === undefined
      ? []
      : [{ kind: 'paused' as const, scope, subject, since: since.toISOString() }]
  })
}

const chainName = ({ chains }: Registry, id: string) =>
  chains.find(({ chainId }) => String(chainId) === id)?.name

async function findFailed(db: Db, accountId: string): Promise<AttentionItem[]> {
  const count = await countRetryable(db, accountId)
  return count > 0 ? [{ kind: 'failed', count }] : []
}

/** A younger intent does not need attention: a plan of several steps takes minutes. */
const PATIENCE_MS = 10 * MINUTE_MS

async function findWaiting(
  { db, registry }: Pick<Services, 'db' | 'registry'>,
  accountId: string,
): Promise<AttentionItem[]> {
  const open = await listIntents(db, accountId, {
    ...{ walletId: undefined, action: undefined, createdAfter: undefined },
    statuses: statuses.filter((status) => !isTerminal(status)),
    createdBefore: new Date(Date.now() - PATIENCE_MS),
    slice: { limit: MOST_COUNTED },
  })
  const late = open.flatMap(({ timeline, ...intent }) => {
    const { waitingFor } = intentBody(registry, intent, { timeline, scopes: [] })
    const wait = waitingFor as WaitingFor | undefined
    return wait && isUsual(wait) ? [] : [{ code: wait?.code }]
  })
  const codes = [...new Set(late.flatMap(({ code }) => code ?? []))]
  return late.length > 0 ? [{ kind: 'waiting', count: late.length, codes }] : []
}

/** True while a wait, such as that for an attestation, takes no longer than it usually does. */
const isUsual = ({ since, usualSeconds = 0 }: WaitingFor) =>
  Date.parse(since) + usualSeconds * 1_000 > Date.now()

const findWebhooks = async (db: Db, accountId: string): Promise<AttentionItem[]> =>
  (await readFailingWebhooks(db, accountId)).map((webhook) => ({ kind: 'webhook', ...webhook }))

/** Less than a tenth of the monthly credits is left, as for the event `credits.low`. */
async function findLowCredits(db: Db, accountId: string): Promise<AttentionItem[]> {
  const [credits, { given: monthly, left, endsAt }] = await Promise.all([
    readCredits(db, accountId),
    readMonth(db, accountId),
  ])
  // Before the first call of a month the stored balance is that of an earlier month.
  const balance = Math.max(credits.balance, left)
  if (balance * 10 >= monthly) return []
  return [{ kind: 'credits', balance, monthly, endsAt: endsAt.toISOString() }]
}

const findKeys = async (db: Db, accountId: string): Promise<AttentionItem[]> =>
  (await readExpiringKeys(db, accountId)).map(({ expiresAt, ...key }) => ({
    ...{ kind: 'key', ...key },
    expiresAt: expiresAt.toISOString(),
  }))
