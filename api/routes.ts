import { balanceRoutes } from './endpoints/balances.js'
import { cancelRoutes } from './endpoints/cancelIntent.js'
import { dashboardRoutes } from './endpoints/credits.js'
import { demoRoutes } from './endpoints/demo.js'
import { eventRoutes } from './endpoints/events.js'
import { intentRoutes } from './endpoints/intents.js'
import { readinessRoutes } from './endpoints/readiness.js'
import { retryRoutes } from './endpoints/retryIntent.js'
import { positionRoutes } from './endpoints/positions.js'
import { walletRoutes } from './endpoints/wallets.js'
import { yieldHistoryRoutes } from './endpoints/yieldHistory.js'
import { yieldRoutes } from './endpoints/yields.js'
import type { Endpoints } from './docs/openapi.js'

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
    ...positionRoutes,
    ...demoRoutes,
  ],
  unversioned: [...dashboardRoutes, ...readinessRoutes],
}
