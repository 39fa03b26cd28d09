import { readWalletBalances, sum } from '../../e2e/balances.js'
import { joinWorld, type E2eWorld } from '../../e2e/world.js'

/** Joins the stack of the run with a new account for one example. */
export async function openExample() {
  const world = await joinWorld()
  const { apiKey, apiBaseUrl } = world.stack.facts
  return {
    steward: world.steward,
    env: { STEWARD_API_KEY: apiKey, STEWARD_BASE_URL: apiBaseUrl },
    readUsdc: (address: string) => readUsdc(world, address),
    close: () => world.stop(),
  }
}
export type ExampleWorld = Awaited<ReturnType<typeof openExample>>

/** Base units of USDC that a wallet holds and has lent, over all chains. */
async function readUsdc({ nodes }: E2eWorld, address: string) {
  const all = await Promise.all(
    Object.values(nodes).map((node) => readWalletBalances(node, { address })),
  )
  return {
    held: sum(all.map(({ usdc }) => usdc)),
    lent: sum(all.map(({ aave, comet, vault }) => aave + comet + vault)),
  }
}
