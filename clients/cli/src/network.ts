import { misused } from './exit.js'
import { confirm } from './terminal/prompt.js'
import type { Network } from './profiles.js'
import type { Session } from './session.js'
import type { Steward } from '@steward/sdk'

/** Whether a chain holds test money. An unknown chain counts as real money. */
const isTestChain = (name: string) => name.endsWith('-sepolia')

/**
 * Whether this key moves real money, by the chains of its wallets, or of the markets when it has no wallet. An unknown
 * chain counts as real money.
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
 * Asks for confirmation before real money moves, unless `--yes` is given. Test money moves without a question.
 *
 * @param action - Description of the action: `Lend 25 USDC of alice`.
 * @throws {CommandError} without a confirmation.
 */
export async function confirmRealMoney(
  session: Session,
  action: string,
  isSure: boolean,
): Promise<void> {
  if (isSure || (await networkOf(session)) === 'testnet') return
  const { io } = session
  if (!io.input.isTTY) {
    throw misused(`${action}: this moves real money and needs a confirmation.`, 'Add --yes.')
  }
  if (!(await confirm(io, `${action}? This moves real money.`)))
    throw misused('Not confirmed. Nothing was sent.')
}
