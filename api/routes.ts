import { balanceRoutes } from './endpoints/wallets/getBalances.js'
import { cancelRoutes } from './endpoints/intents/cancelIntent.js'
import { creditRoutes } from './endpoints/service/getCredits.js'
import { invitationRoutes } from './endpoints/dashboard/invitations/acceptInvitation.js'
import { keyRoutes } from './endpoints/dashboard/keys/createKey.js'
import { memberRoutes } from './endpoints/dashboard/members/listMembers.js'
import { systemRoutes } from './endpoints/dashboard/getSystem.js'
import { overviewRoutes } from './endpoints/dashboard/getOverview.js'
import { requestRoutes } from './endpoints/dashboard/listRequests.js'
import { sessionRoutes } from './endpoints/dashboard/session/signIn.js'
import { usageRoutes } from './endpoints/dashboard/usage/listLedger.js'
import { yieldWeekRoutes } from './endpoints/dashboard/listYieldWeek.js'
import { walletPageRoutes } from './endpoints/dashboard/getWalletById.js'
import { demoRoutes } from './endpoints/demo/fundWallet.js'
import { eventRoutes } from './endpoints/events/listEvents.js'
import { intentRoutes } from './endpoints/intents/createIntent.js'
import { readinessRoutes } from './endpoints/service/getReadiness.js'
import { retryRoutes } from './endpoints/intents/retryIntent.js'
import { readTokenRoutes } from './endpoints/events/createReadToken.js'
import { positionRoutes } from './endpoints/wallets/getPositions.js'
import { webhookRoutes } from './endpoints/webhooks/createWebhook.js'
import { deliveryRoutes } from './endpoints/webhooks/listDeliveries.js'
import { walletRoutes } from './endpoints/wallets/createWallet.js'
import { yieldHistoryRoutes } from './endpoints/yields/listYieldHistory.js'
import { yieldRoutes } from './endpoints/yields/getYields.js'
import type { Endpoints } from './docs/openapi.js'
import type { DashboardRoute } from './http/auth/memberRoute.js'

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
  ...walletPageRoutes,
  ...yieldWeekRoutes,
]
