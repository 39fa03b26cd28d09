import { z } from 'zod'
import { readSystem, type SystemState } from '../../../db/system.js'
import { ServiceError } from '../../../domain/errors.js'
import { roles } from '../../../domain/roles.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../http/input.js'
import { isTemporalAvailable } from '../service/isAvailable.js'
import { readReadinessBody } from '../service/readinessBody.js'
import type { Registry } from '../../../evm/registry.js'
import type { SystemAnswer } from '../../schemas/system.js'

/** For operators, in any role. */
export const getSystem = memberRoute(
  {
    ...{ method: 'get', path: '/system', roles },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async (services, { caller }) => {
    const state = await readSystem(services.db, caller.tokenHash)
    if (!state) {
      throw new ServiceError('FORBIDDEN', 'Only operators of this service may read its state.')
    }
    const [readiness, temporal] = await Promise.all([
      readReadinessBody(services),
      isTemporalAvailable(services.temporal),
    ])
    const body: SystemAnswer = { readiness, temporal, ...toAnswer(services.registry, state) }
    return { status: 200, body }
  },
)

function toAnswer(
  registry: Registry,
  { roles, chains, senders, pauses, auditLog, late }: SystemState,
): Omit<SystemAnswer, 'readiness' | 'temporal'> {
  // A chain that the deployment no longer has is shown by its number.
  const nameOf = (id: string) =>
    registry.chains.find(({ chainId }) => String(chainId) === id)?.name ?? id
  return {
    roles: roles.map(({ role, sessions }) => ({ role, sessions, isThere: sessions > 0 })),
    chains: chains.map(({ chainId, indexedAt, waitingSince, ...chain }) => ({
      ...chain,
      ...{ chain: nameOf(chainId), indexedAt: iso(indexedAt), waitingSince: isoOf(waitingSince) },
    })),
    senders: senders.map(({ chainId, openSince, outOfGasSince, ...sender }) => ({
      ...sender,
      ...{
        chain: nameOf(chainId),
        openSince: isoOf(openSince),
        outOfGasSince: isoOf(outOfGasSince),
      },
    })),
    pauses: pauses.map(({ subject, ...pause }) => ({
      ...pause,
      subject: pause.scope === 'chain' ? nameOf(subject) : subject,
      since: iso(pause.since),
    })),
    auditLog: auditLog.map(({ subject, ...act }) => ({
      ...act,
      subject: act.action.startsWith('chain ') ? nameOf(subject) : subject,
      at: iso(act.at),
    })),
    late: late.map((intent) => ({ ...intent, since: iso(intent.since) })),
  }
}

const iso = (text: string) => new Date(text).toISOString()

const isoOf = (text: string | null) => (text === null ? null : iso(text))
