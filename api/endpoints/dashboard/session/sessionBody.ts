import { namespaceUrl } from '../../../../domain/events/views.js'
import type { Member } from '../../../../db/accounts/sessions.js'
import type { SessionAnswer } from '../../../schemas/dashboard.js'
import type { Services } from '../../../http/services.js'

/** The signed-in user, the account and the role. */
export function sessionBody(
  { registry, dashboard, temporal }: Services,
  member: Member,
): SessionAnswer {
  const { temporalUi } = dashboard
  const { namespace } = temporal.options
  return {
    user: {
      id: member.userId,
      email: member.email,
      name: member.name,
      isOperator: member.isOperator,
    },
    account: { id: member.accountId, name: member.accountName, plan: member.plan },
    role: member.role,
    network: registry.network,
    environment: registry.network,
    ...(member.isOperator &&
      temporalUi !== undefined && { temporalUi: namespaceUrl(temporalUi, namespace) }),
  }
}
