import { getAttention } from './endpoints/dashboard/getAttention.js'
import { findDeliveries } from './endpoints/dashboard/findDeliveries.js'
import { getOverview } from './endpoints/dashboard/getOverview.js'
import { getSystem } from './endpoints/dashboard/getSystem.js'
import { getWalletById } from './endpoints/dashboard/getWalletById.js'
import { getTrends } from './endpoints/dashboard/getTrends.js'
import { acceptInvitation } from './endpoints/dashboard/invitations/acceptInvitation.js'
import { getInvitation } from './endpoints/dashboard/invitations/getInvitation.js'
import { inviteMember } from './endpoints/dashboard/invitations/inviteMember.js'
import { listInvitations } from './endpoints/dashboard/invitations/listInvitations.js'
import { withdrawInvitation } from './endpoints/dashboard/invitations/withdrawInvitation.js'
import { createKey } from './endpoints/dashboard/keys/createKey.js'
import { getKeyUse } from './endpoints/dashboard/keys/getKeyUse.js'
import { listKeys } from './endpoints/dashboard/keys/listKeys.js'
import { revokeKey } from './endpoints/dashboard/keys/revokeKey.js'
import { rollKey } from './endpoints/dashboard/keys/rollKey.js'
import { listRequests } from './endpoints/dashboard/listRequests.js'
import { listYieldTrend } from './endpoints/dashboard/listYieldTrend.js'
import { changeMemberRole } from './endpoints/dashboard/members/changeMemberRole.js'
import { listAuditLog } from './endpoints/dashboard/members/listAuditLog.js'
import { listMembers } from './endpoints/dashboard/members/listMembers.js'
import { removeMember } from './endpoints/dashboard/members/removeMember.js'
import { resetMemberPassword } from './endpoints/dashboard/members/resetMemberPassword.js'
import { search } from './endpoints/dashboard/search.js'
import { changePassword } from './endpoints/dashboard/session/changePassword.js'
import { choosePassword } from './endpoints/dashboard/session/choosePassword.js'
import { endSession } from './endpoints/dashboard/session/endSession.js'
import { getSession } from './endpoints/dashboard/session/getSession.js'
import { listOwnAccounts } from './endpoints/dashboard/session/listOwnAccounts.js'
import { listSessions } from './endpoints/dashboard/session/listSessions.js'
import { signIn } from './endpoints/dashboard/session/signIn.js'
import { signOut } from './endpoints/dashboard/session/signOut.js'
import { signOutEverywhere } from './endpoints/dashboard/session/signOutEverywhere.js'
import { switchAccount } from './endpoints/dashboard/session/switchAccount.js'
import { downloadIntents } from './endpoints/dashboard/usage/downloadIntents.js'
import { listLedger } from './endpoints/dashboard/usage/listLedger.js'
import { listUsageDays } from './endpoints/dashboard/usage/listUsageDays.js'
import { fundWallet } from './endpoints/demo/fundWallet.js'
import { getFunding } from './endpoints/demo/getFunding.js'
import { createReadToken } from './endpoints/events/createReadToken.js'
import { listEvents } from './endpoints/events/listEvents.js'
import { streamIntentEvents } from './endpoints/events/streamIntentEvents.js'
import { cancelIntent } from './endpoints/intents/cancelIntent.js'
import { createIntent } from './endpoints/intents/createIntent.js'
import { getIntent } from './endpoints/intents/getIntent.js'
import { listIntents } from './endpoints/intents/listIntents.js'
import { retryIntent } from './endpoints/intents/retryIntent.js'
import { getCredits } from './endpoints/service/getCredits.js'
import { getReadiness } from './endpoints/service/getReadiness.js'
import { createWallet } from './endpoints/wallets/createWallet.js'
import { getBalances } from './endpoints/wallets/getBalances.js'
import { getPositions } from './endpoints/wallets/getPositions.js'
import { getWallet } from './endpoints/wallets/getWallet.js'
import { listWallets } from './endpoints/wallets/listWallets.js'
import { createWebhook } from './endpoints/webhooks/createWebhook.js'
import { deleteWebhook } from './endpoints/webhooks/deleteWebhook.js'
import { getWebhook } from './endpoints/webhooks/getWebhook.js'
import { listDeliveries } from './endpoints/webhooks/listDeliveries.js'
import { listWebhooks } from './endpoints/webhooks/listWebhooks.js'
import { resendDelivery } from './endpoints/webhooks/resendDelivery.js'
import { rotateWebhookSecret } from './endpoints/webhooks/rotateWebhookSecret.js'
import { testWebhook } from './endpoints/webhooks/testWebhook.js'
import { updateWebhook } from './endpoints/webhooks/updateWebhook.js'
import { getYields } from './endpoints/yields/getYields.js'
import { listYieldHistory } from './endpoints/yields/listYieldHistory.js'
import type { Endpoints } from './docs/openapi.js'
import type { DashboardRoute } from './http/auth/memberRoute.js'

/** All endpoints, in the order of the published document. */
export const endpoints: Endpoints = {
  versioned: [
    createWallet,
    getWallet,
    listWallets,
    fundWallet,
    getFunding,
    getBalances,
    getYields,
    listYieldHistory,
    createIntent,
    getIntent,
    listIntents,
    cancelIntent,
    retryIntent,
    getPositions,
    listEvents,
    streamIntentEvents,
    createReadToken,
    createWebhook,
    listWebhooks,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    rotateWebhookSecret,
    listDeliveries,
    testWebhook,
    resendDelivery,
  ],
  unversioned: [getCredits, getReadiness],
}

/** Endpoints of the dashboard only. The published document leaves them out. */
export const dashboard: readonly DashboardRoute[] = [
  signIn,
  getSession,
  signOut,
  signOutEverywhere,
  listOwnAccounts,
  switchAccount,
  listSessions,
  endSession,
  changePassword,
  choosePassword,
  getInvitation,
  acceptInvitation,
  listMembers,
  listAuditLog,
  listInvitations,
  inviteMember,
  withdrawInvitation,
  changeMemberRole,
  removeMember,
  resetMemberPassword,
  listKeys,
  createKey,
  rollKey,
  revokeKey,
  getSystem,
  getOverview,
  getTrends,
  getAttention,
  listRequests,
  findDeliveries,
  search,
  listUsageDays,
  getKeyUse,
  listLedger,
  downloadIntents,
  getWalletById,
  listYieldTrend,
]
