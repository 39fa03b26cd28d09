import { z } from 'zod'
import { askChains, unavailableField } from '../../../evm/rpc/askChains.js'
import { readDeposits, type Deposits } from '../../../db/intents/positions.js'
import { walletById } from '../../../db/accounts/wallets.js'
import { earnedUnits, type Flow } from '../../../domain/earnings.js'
import { assetText } from '../../../domain/money.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import {
  assetOf,
  disabledMarket,
  lendingProtocol,
  readSharedRates,
} from '../../../evm/lending/markets.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { readRoute } from '../../http/route.js'
import { positionsAnswer } from '../../schemas/examples/resources.js'
import { walletIdInput } from '../../schemas/parameters.js'
import { positions } from '../../schemas/resources.js'
import type { ChainClient } from '../../../evm/connect.js'
import type { Market } from '../../../evm/registry.js'

export const getPositions = readRoute(
  {
    path: '/positions/:walletId',
    caller: apiKey({ credits: creditCosts.readPositions }),
    params: z.object({ walletId: walletIdInput }),
    query: z.strictObject({
      closed: z
        .enum(['true', 'false'])
        .default('false')
        .meta({
          description: 'Include closed positions, with their earnings.',
          override: { type: 'boolean', default: false },
        }),
    }),
    search: { lookup: walletById, by: ({ walletId }) => walletId },
    docs: {
      operationId: 'getPositions',
      tag: 'Positions',
      summary: 'Get the lending positions of a wallet',
      description:
        'Returns the deposits by intents, their current value on the chain, and their earnings. A chain that does not respond is listed in `unavailable`.',
      responses: {
        200: {
          description: 'The positions of the wallet.',
          schema: positions,
          examples: { positions: positionsAnswer },
        },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  async ({ db, chains }, { found: { id, accountId, address }, query }) => {
    const deposits = await readDeposits(db, accountId, id)
    const holder = { wallet: address, withClosed: query.closed === 'true' }
    const { answers, unavailable } = await askChains(chains.list, async (client) => {
      return readChain(client, holder, deposits)
    })
    const body = {
      walletId: id,
      address,
      positions: answers.flat(),
      ...unavailableField(unavailable),
    }
    return { status: 200, body }
  },
)

/** The wallet whose positions are read. `withClosed`: include closed positions. */
type Holder = { wallet: string; withClosed: boolean }

/** The positions on one chain. Without an indexed block it throws, and the chain is listed as unavailable. */
async function readChain(client: ChainClient, whose: Holder, deposits: Deposits[]) {
  const { chainId, name } = client.chain
  const indexed = deposits.find((one) => one.chainId === BigInt(chainId))
  if (!indexed) throw new Error(`No block of ${name} is indexed yet.`)
  const { rates } = await readSharedRates(client)
  const holder = { ...whose, ...indexed }
  const found = await Promise.all(
    client.chain.markets.map((market) => {
      const rate = rates.find((one) => one.market === market.address)
      return readPosition(client, { market, apy: rate?.apyPercent ?? 0 }, holder)
    }),
  )
  return found.filter((position) => position !== undefined)
}

/** `apy`: percent, 0 for a disabled market. */
type MarketRate = { market: Market; apy: number }

async function readPosition(
  client: ChainClient,
  { market, apy }: MarketRate,
  { wallet, withClosed, indexedHash, flows: all }: Deposits & Holder,
) {
  const { address, protocol } = market
  const flows = all.filter((flow) => flow.market === address)
  const [deposited, withdrawn] = [sumOf(flows, 'deposit'), sumOf(flows, 'withdraw')]
  // A disabled market is read only when intents have deposited there.
  if (withdrawn >= deposited && disabledMarket(client, market)) return undefined
  const block = { blockHash: indexedHash }
  const lending = lendingProtocol(market)
  const [value, sharePrice] = await Promise.all([
    lending.readPosition(client, market, { wallet, block }),
    // Needed only for the earnings.
    lending.readSharePrice(client, market, block).catch(() => null),
  ])
  // Fully withdrawn, or never deposited.
  const isEmpty = value === 0n && withdrawn >= deposited
  if (isEmpty && !(withClosed && deposited > 0n)) return undefined
  return {
    ...{
      chain: client.chain.name,
      alias: client.chain.alias,
      protocol,
      asset: assetOf(client.chain, market),
      apy,
    },
    deposited: assetText(deposited),
    withdrawn: assetText(withdrawn),
    currentValue: assetText(value),
    earned: assetText(earnedUnits(flows, sharePrice) ?? value + withdrawn - deposited),
    ...(isEmpty ? { closed: true } : {}),
  }
}

const sumOf = (flows: Flow[], wanted: Flow['kind']) =>
  flows.reduce((sum, { kind, units }) => (kind === wanted ? sum + units : sum), 0n)
