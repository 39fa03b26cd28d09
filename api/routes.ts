import { balanceRoutes } from './balances.js'
import { cancelRoutes } from './cancelIntent.js'
import { dashboardRoutes } from './dashboard.js'
import { demoRoutes } from './demo.js'
import { intentRoutes } from './intents.js'
import { retryRoutes } from './retryIntent.js'
import { positionRoutes } from './positions.js'
import { walletRoutes } from './wallets.js'
import { yieldHistoryRoutes } from './yieldHistory.js'
import { yieldRoutes } from './yields.js'
import type { Endpoints } from './openapi.js'

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
    ...positionRoutes,
    ...demoRoutes,
  ],
  unversioned: dashboardRoutes,
}
