import { misused } from './exit.js'
import { confirm } from './terminal/prompt.js'
import type { Network } from './profiles.js'
import type { Session } from './session.js'
import type { Steward } from '@steward/sdk'

/** Chains of play money. A name that is none of them is taken for real money. */
const isTestChain = (name: string) => name.endsWith('-sepolia')

/**
 * Whether money is real where this key is good: by the chains of its wallets, or of the markets. What is not known to
 * be play money is real.
 */
export async function readNetwork(steward: Steward): Promise<Network> {
  const { data } = await steward.wallets.list({ limit: 1 })
  const chains = data[0]?.chains ?? (await readMarketChains(steward))
  return chains.length > 0 && chains.every(isTestChain) ? 'testnet' : 'mainnet'
}

async function readMarketChains(steward: Steward): Promise<string[]> {
  const { rates, unavailable = [] } = await steward.yields.list({}, { maxRetries: 0 })
  return [...rates.map(({ chain }) => chain), ...unavailable]
}

export const networkOf = async ({ access, steward }: Session): Promise<Network> =>
  access.network ?? readNetwork(steward)

/**
 * Asks before real money moves, unless `--yes` has answered. Play money moves at once.
 *
 * @param deed - `Lend 25 USDC of alice`.
 * @throws {CommandError} when nobody says yes.
 */
export async function confirmDeed(session: Session, deed: string, isSure: boolean): Promise<void> {
  if (isSure || (await networkOf(session)) === 'testnet') return
  const { io } = session
  if (!io.input.isTTY) {
    throw misused(`${deed}: this is real money, and nobody is here to ask.`, 'Add --yes.')
  }
  if (!(await confirm(io, `${deed}? This is real money.`))) throw misused('Nothing was done.')
}
