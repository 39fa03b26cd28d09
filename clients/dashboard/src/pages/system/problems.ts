import type { System } from '../../api/types.js'
import { chainText, namesIn } from '../../text/names.js'

/** The problems for an operator, one sentence each. Empty in a healthy deployment. */
export function problemsOf(system: System): string[] {
  const { roles, temporal, senders, pauses, late, readiness } = system
  return [
    ...(temporal ? [] : ['Temporal does not answer: new intents wait.']),
    ...roles.filter(({ isThere }) => !isThere).map(({ role }) => `No ${role} process is running.`),
    ...readiness.chains.flatMap(chainProblems),
    ...senders
      .filter(({ outOfGasSince }) => outOfGasSince !== null)
      .map(({ chain }) => `A sender on ${chainText(chain)} is out of gas.`),
    ...counted(pauses.length, 'pause or freeze is active.', 'pauses and freezes are active.'),
    ...counted(late.length, 'intent is late.', 'intents are late.'),
  ]
}

type CheckedChain = System['readiness']['chains'][number]

function chainProblems({ chain, answered, endpoints, disabled }: CheckedChain): string[] {
  const name = chainText(chain)
  const bad = endpoints.filter(({ state }) => state !== 'ok')
  return [
    ...(answered ? [] : [`${name} did not answer enough checks.`]),
    ...bad.map(({ position, state }) => `Endpoint ${position} of ${name}: ${state}.`),
    ...disabled.map(
      ({ what, reason }) => `${capitalize(what)} is disabled on ${name}: ${namesIn(reason)}.`,
    ),
  ]
}

const counted = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
