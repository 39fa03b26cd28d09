import type { System } from '../../api/types.js'
import { chainText } from '../../text/shorten.js'

/** What an operator should look at, one sentence each; none when all is well. */
export function troublesOf(system: System): string[] {
  const { roles, temporal, lanes, stops, late, readiness } = system
  return [
    ...(temporal ? [] : ['Temporal does not answer: nothing new begins.']),
    ...roles.filter(({ isThere }) => !isThere).map(({ role }) => `No ${role} is there.`),
    ...readiness.chains.flatMap(chainTroubles),
    ...lanes
      .filter(({ drySince }) => drySince !== null)
      .map(({ chain }) => `A lane of ${chainText(chain)} has no gas.`),
    ...counted(stops.length, 'thing is stopped.', 'things are stopped.'),
    ...counted(late.length, 'intent is late.', 'intents are late.'),
  ]
}

type ChainState = System['readiness']['chains'][number]

function chainTroubles({ chain, answered, endpoints, disabled }: ChainState): string[] {
  const name = chainText(chain)
  const bad = endpoints.filter(({ state }) => state !== 'ok')
  return [
    ...(answered ? [] : [`${name} said too little to be judged.`]),
    ...bad.map(({ position, state }) => `Endpoint ${position} of ${name}: ${state}.`),
    ...disabled.map(({ what, reason }) => `On ${name} ${what} is disabled: ${reason}.`),
  ]
}

const counted = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
