import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query'
import { get, type QueryParams } from './call.js'
import type {
  AttentionItem,
  AuditEntry,
  Balances,
  Delivery,
  Event,
  Intent,
  InviteEntry,
  KeyEntry,
  KeyUseDay,
  LedgerEntry,
  MemberEntry,
  OwnAccountEntry,
  OverviewState,
  Page,
  Positions,
  RequestEntry,
  SearchAnswer,
  Session,
  SessionEntry,
  System,
  Trends,
  UsageDay,
  Wallet,
  Webhook,
  Yields,
  YieldPoint,
} from './types.js'

/** The queries of the pages. The first element of a key is the resource, by which events invalidate the query. */

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => get<Session>('/session'),
  staleTime: 60_000,
  retry: false,
})

/** The accounts of the signed-in user. */
export const ownAccountsQuery = queryOptions({
  queryKey: ['session', 'accounts'],
  queryFn: () => get<Page<OwnAccountEntry>>('/session/accounts'),
  staleTime: 60_000,
})

/** The state of the deployment, for operators. It refreshes while it is on screen. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: () => get<System>('/system'),
  refetchInterval: 5_000,
})

/** The largest page of the API. */
const MOST_ROWS = 100

/** A list, page by page. */
const listQuery = <T>(resource: string, path: string, query: QueryParams = {}) =>
  infiniteQueryOptions({
    queryKey: [resource, 'list', path, query],
    queryFn: ({ pageParam }) =>
      get<Page<T>>(path, { ...query, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

export const intentsQuery = (query: QueryParams) => listQuery<Intent>('intents', '/intents', query)
export const walletsQuery = (query: QueryParams) => listQuery<Wallet>('wallets', '/wallets', query)

export const walletQuery = (id: string) =>
  queryOptions({
    queryKey: ['wallets', 'one', id],
    queryFn: () => get<Wallet>(`/wallets/by-id/${encodeURIComponent(id)}`),
    staleTime: Infinity,
  })

export const intentQuery = (id: string) =>
  queryOptions({
    queryKey: ['intents', 'one', id],
    queryFn: () => get<Intent>(`/intents/${encodeURIComponent(id)}`),
  })

/** The first events of an intent, oldest first, and the latest deliveries of its events. */
export const intentEventsQuery = (intentId: string) =>
  listQuery<Event>('intents', '/events', { intentId, limit: MOST_ROWS })
export const intentDeliveriesQuery = (intentId: string) => ({
  ...listQuery<Delivery>('webhooks', '/deliveries', { intentId, limit: MOST_ROWS }),
  refetchInterval: watchDeliveries,
})

/** A delivery that a link names. Empty when it is no longer kept. */
export const deliveryQuery = (deliveryId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', deliveryId],
    queryFn: () => get<Page<Delivery>>('/deliveries', { deliveryId }),
    refetchInterval: WATCHED_MS,
  })

export const balancesQuery = (walletId: string) =>
  queryOptions({
    queryKey: ['balances', walletId],
    queryFn: () => get<Balances>(`/balances/${encodeURIComponent(walletId)}`),
  })

export const positionsQuery = (walletId: string) =>
  queryOptions({
    queryKey: ['positions', walletId],
    queryFn: () => get<Positions>(`/positions/${encodeURIComponent(walletId)}`),
  })

export const yieldsQuery = queryOptions({
  queryKey: ['yields', 'now'],
  queryFn: () => get<Yields>('/yields'),
  refetchInterval: 30_000,
})

/** Refresh interval of data without events. */
const WATCHED_MS = 15_000

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => get<OverviewState>('/overview'),
  refetchInterval: WATCHED_MS,
})

/** What needs attention. Reading a busy account takes a tenth of a second, so that events do not repeat it. */
export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: () => get<{ data: AttentionItem[] }>('/attention'),
  refetchInterval: WATCHED_MS,
})

/** The key figures of a range. Summing a busy account takes half a second, so that events do not repeat it. */
export const trendsQuery = (range: string) =>
  queryOptions({
    queryKey: ['trends', range],
    queryFn: () => get<Trends>('/trends', { range }),
    staleTime: WATCHED_MS,
    refetchInterval: 2 * WATCHED_MS,
  })

export const requestsQuery = (query: QueryParams) => ({
  ...listQuery<RequestEntry>('requests', '/requests', query),
  refetchInterval: WATCHED_MS,
})
export const ledgerQuery = listQuery<LedgerEntry>('usage', '/usage/ledger')

/** @param days - In UTC, both included. */
export const usageDaysQuery = (days: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['usage', 'days', days],
    queryFn: () => get<{ data: UsageDay[] }>('/usage/days', days),
    refetchInterval: WATCHED_MS,
  })

export const keyUseQuery = (keyId: string, days: number) =>
  queryOptions({
    queryKey: ['keys', 'use', keyId, days],
    queryFn: () => get<{ data: KeyUseDay[] }>(`/keys/${encodeURIComponent(keyId)}/use`, { days }),
    staleTime: 60_000,
  })

export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ['search', q],
    queryFn: () => get<SearchAnswer>('/search', { q }),
    enabled: q !== '',
    staleTime: 30_000,
  })

/** Refresh interval while a delivery is pending. */
const DELIVERING_MS = 1_500

export const webhooksQuery = listQuery<Webhook>('webhooks', '/webhooks')
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: () => get<Webhook>(`/webhooks/${encodeURIComponent(id)}`),
  })
/** A delivery that succeeds after its event emits none. */
const watchDeliveries = ({
  state,
}: {
  state: { data?: InfiniteData<Page<Delivery>> | undefined }
}) =>
  state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'pending'))
    ? DELIVERING_MS
    : WATCHED_MS

export const deliveriesQuery = (webhookId: string, query: QueryParams) => ({
  ...listQuery<Delivery>(
    'webhooks',
    `/webhooks/${encodeURIComponent(webhookId)}/deliveries`,
    query,
  ),
  refetchInterval: watchDeliveries,
})

export const keysQuery = listQuery<KeyEntry>('keys', '/keys')
export const membersQuery = listQuery<MemberEntry>('members', '/members')
export const invitationsQuery = listQuery<InviteEntry>('members', '/members/invitations')
export const auditLogQuery = listQuery<AuditEntry>('members', '/members/audit-log')
export const sessionsQuery = listQuery<SessionEntry>('sessions', '/sessions')

/** The rates of all markets in a range. */
export const yieldTrendQuery = (range: string) =>
  queryOptions({
    queryKey: ['yields', 'trend', range],
    queryFn: () => get<{ data: YieldPoint[] }>('/yields/trend', { range }),
    staleTime: 60_000,
    refetchInterval: 60_000,
  })
