import type { Webhook } from '../../api/types.js'

/** Why an endpoint is disabled, without a full stop. */
export const disabledReasons: Record<NonNullable<Webhook['disabledReason']>, string> = {
  by_account: 'A member of this account disabled the endpoint',
  gone: 'The endpoint responded with 410 Gone',
  failing: 'The endpoint accepted no event for three days',
}
