import { startChains, type TestChains } from '../planning/chains.js'
import { startWorld, type Answer, type World } from './api.js'
import type { ChainName } from '../../chains/registry.js'

export type WalletBody = { id: string; address: string }

/** The API over real chains, with an account and its key. */
export type ChainWorld = World & {
  chains: TestChains
  key: string
  /** A wallet that holds base units of USDC, in a block that is booked. */
  newWallet(funds?: Partial<Record<ChainName, bigint>>): Promise<WalletBody>
  /** `POST /v1/intents`, with what else the body and the path shall have. */
  lend(walletId: string, amount: unknown, more?: object, query?: string): Promise<Answer>
}

export async function startChainWorld(): Promise<ChainWorld> {
  const chains = await startChains()
  const world = await startWorld(chains)
  const key = await world.newKey()
  let users = 0
  return {
    ...world,
    ...{ chains, key },
    async newWallet(funds = {}) {
      const body = { userId: `user ${(users += 1)}` }
      const created = await world.api.call('POST', '/v1/wallets', { key, body })
      const { id, address } = created.body as unknown as WalletBody
      for (const [chain, units] of Object.entries(funds)) {
        await chains.mint(chain as ChainName, address, units)
      }
      await chains.book(world.database.db)
      return { id, address }
    },
    lend: (walletId, amount, more = {}, query = '') => {
      const body = { walletId, action: 'lend', amount, ...more }
      return world.api.call('POST', `/v1/intents${query}`, { key, body })
    },
    async stop() {
      await world.stop()
      await chains.stop()
    },
  }
}
