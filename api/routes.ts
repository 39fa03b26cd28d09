import { balanceRoutes } from './endpoints/balances.js'
import { cancelRoutes } from './endpoints/cancelIntent.js'
import { creditRoutes } from './endpoints/credits.js'
import { invitationRoutes } from './endpoints/dashboard/invitations.js'
import { keyRoutes } from './endpoints/dashboard/keys.js'
import { memberRoutes } from './endpoints/dashboard/members.js'
import { systemRoutes } from './endpoints/dashboard/system.js'
import { overviewRoutes } from './endpoints/dashboard/overview.js'
import { requestRoutes } from './endpoints/dashboard/requests.js'
import { sessionRoutes } from './endpoints/dashboard/session.js'
import { usageRoutes } from './endpoints/dashboard/usage.js'
import { demoRoutes } from './endpoints/demo.js'
import { eventRoutes } from './endpoints/events.js'
import { intentRoutes } from './endpoints/intents.js'
import { readinessRoutes } from './endpoints/readiness.js'
import { retryRoutes } from './endpoints/retryIntent.js'
import { readTokenRoutes } from './endpoints/readToken.js'
import { positionRoutes } from './endpoints/positions.js'
import { webhookRoutes } from './endpoints/webhooks.js'
import { deliveryRoutes } from './endpoints/deliveries.js'
import { walletRoutes } from './endpoints/wallets.js'
import { yieldHistoryRoutes } from './endpoints/yieldHistory.js'
import { yieldRoutes } from './endpoints/yields.js'
import type { Endpoints } from './docs/openapi.js'
import type { DashboardRoute } from './http/memberRoute.js'

/** Every endpoint, in the order in which the document lists them. */
export const endpoints: Endpoints = {
  versioned: [
    ...walletRoutes,
    ...balanceRoutes,
    ...yieldRoutes,
    ...yieldHistoryRoutes,
    ...intentRoutes,
    ...cancelRoutes,
    ...retryRoutes,
    ...eventRoutes,
    ...readTokenRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
    ...positionRoutes,
    ...demoRoutes,
  ],
  unversioned: [...creditRoutes, ...readinessRoutes],
}

/** What the dashboard has besides all of these: no part of the published document. */
export const dashboard: readonly DashboardRoute[] = [
  ...sessionRoutes,
  ...invitationRoutes,
  ...memberRoutes,
  ...keyRoutes,
  ...systemRoutes,
  ...overviewRoutes,
  ...requestRoutes,
  ...usageRoutes,
]
