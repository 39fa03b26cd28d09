import { z } from 'zod'
import { readiness } from './readiness.js'

/** The operators' page: the whole deployment, across all accounts. */

const moment = z.iso.datetime()

export const systemAnswer = z.strictObject({
  readiness,
  /** A role without a database session has no running process. */
  roles: z.array(z.strictObject({ role: z.string(), sessions: z.int(), isThere: z.boolean() })),
  temporal: z.boolean(),
  chains: z.array(
    z.strictObject({
      chain: z.string(),
      indexedBlock: z.string(),
      finalizedBlock: z.string(),
      indexedAt: moment,
      waiting: z.int(),
      waitingSince: moment.nullable(),
      sent: z.int(),
    }),
  ),
  senders: z.array(
    z.strictObject({
      chain: z.string(),
      address: z.string(),
      nextNonce: z.string(),
      open: z.int(),
      openSince: moment.nullable(),
      outOfGasSince: moment.nullable(),
    }),
  ),
  pauses: z.array(
    z.strictObject({
      scope: z.enum(['account', 'wallet', 'chain', 'deployment']),
      /** Id of an account or a wallet, name of a chain; empty for the deployment. */
      subject: z.string(),
      since: moment,
      by: z.string(),
      why: z.string(),
    }),
  ),
  auditLog: z.array(
    z.strictObject({
      at: moment,
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      why: z.string(),
    }),
  ),
  late: z.array(
    z.strictObject({
      intentId: z.string(),
      accountId: z.string(),
      code: z.string(),
      since: moment,
    }),
  ),
})
export type SystemAnswer = z.infer<typeof systemAnswer>
