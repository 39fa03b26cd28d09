import { Interface, toQuantity } from 'ethers'
import { findToken, type ChainName } from '../../evm/registry.js'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { waitForReceipt } from '../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { assetOf } from '../../evm/lending/markets.js'
import { startChains, type TestChains } from '../planning/chains.js'
import { startWorld, type ApiResponse, type ApiWorld } from './api.js'

const RECEIPT_MS = 10_000
/** An estimate may be short by the time that the call is mined: interest accrues meanwhile. */
const gas = toQuantity(1_000_000)
const calls = new Interface([
  'function approve(address spender, uint256 amount)',
  'function mint(address to, uint256 amount)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
])

export type WalletBody = { id: string; address: string }

/** The API over real chains, with an account and its key. */
export type ChainWorld = ApiWorld & {
  chains: TestChains
  key: string
  /** A wallet that holds base units of USDC, in a block that is indexed. */
  newWallet(funds?: Partial<Record<ChainName, bigint>>): Promise<WalletBody>
  /** Puts base units of what the chain's Aave takes into it for a wallet, as an operation of its own does. */
  supply(chain: ChainName, wallet: WalletBody, units: bigint): Promise<void>
  /** `POST /v1/intents`, with what else the body and the path shall have. */
  lend(walletId: string, amount: unknown, more?: object, query?: string): Promise<ApiResponse>
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
      await chains.index(world.database.db)
      return { id, address }
    },
    async supply(name, { address }, units) {
      const chain = chains.registry.get(name)
      const [market] = chain.markets
      const token = market && findToken(chain, assetOf(chain, market))
      if (!market || !token) throw new Error(`There is no market on ${name}.`)
      const send = (to: string, method: string, args: unknown[]) =>
        transact(chains.urls[name], to, method, args)
      await send(token.address, 'mint', [devnetOwner, units])
      await send(token.address, 'approve', [market.address, units])
      await send(market.address, 'supply', [token.address, units, address, 0])
      await chains.index(world.database.db)
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

async function transact(url: string, to: string, method: string, args: unknown[]): Promise<void> {
  const data = calls.encodeFunctionData(method, args)
  const transaction = { from: devnetOwner, to, data, gas }
  const hash = await callRpc<string>(url, 'eth_sendTransaction', [transaction])
  const receipt = await waitForReceipt(url, hash, RECEIPT_MS)
  if (receipt?.status !== '0x1') throw new Error(`${method} on ${url} failed.`)
}
