import { z } from 'zod'
import { askChains, unavailableField } from '../../../evm/rpc/askChains.js'
import { readHoldings, readLentHoldings, type Holding } from '../../../evm/balances.js'
import { walletById } from '../../../db/accounts/wallets.js'
import { defaultLimits } from '../../../domain/limits.js'
import { fromUnits, sumKnownUsd, sumUsd, toUsd } from '../../../domain/money.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noQuery } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { balancesAnswer } from '../../schemas/examples/resources.js'
import { walletIdInput } from '../../schemas/parameters.js'
import { balances } from '../../schemas/resources.js'

export const getBalances = readRoute(
  {
    path: '/balances/:walletId',
    caller: apiKey({ credits: creditCosts.readBalances }),
    params: z.object({ walletId: walletIdInput }),
    query: noQuery,
    search: { lookup: walletById, by: ({ walletId }) => walletId },
    docs: {
      operationId: 'getBalances',
      tag: 'Balances',
      summary: 'Get the balances of a wallet',
      description:
        'Returns the token balances of a wallet, and the value of what it has lent, read from the chains during the call. A chain that does not respond is listed in `unavailable` and missing in `chains`.',
      responses: {
        200: {
          description: 'The balances of the wallet.',
          schema: balances,
          examples: { balances: balancesAnswer },
        },
      },
      errors: ['WALLET_NOT_FOUND'],
    },
  },
  async ({ chains, limits = defaultLimits }, { found: wallet }) => {
    const { answers, unavailable } = await askChains(chains.list, async (client) => {
      const owned = { owner: wallet.address, limits }
      const [holdings, lent] = await Promise.all([
        readHoldings(client, owned),
        readLentHoldings(client, owned).catch(() => undefined),
      ])
      const { name, alias } = client.chain
      const tokens = holdings.map(tokenBody)
      return { body: { chain: name, alias, tokens }, lent: lent?.map(tokenBody) }
    })
    const shown = answers.map(({ body }) => body)
    const values = shown.flatMap(({ tokens }) => tokens.flatMap(({ valueUsd }) => valueUsd ?? []))
    const body = {
      walletId: wallet.id,
      address: wallet.address,
      chains: shown,
      totalValueUsd: sumUsd(values),
      lentUsd: unavailable.length > 0 ? null : lentUsdOf(answers),
      positions: `/v1/positions/${wallet.id}`,
      ...unavailableField(unavailable),
    }
    return { status: 200, body }
  },
)

/** `lent`: undefined for a chain whose markets cannot be read. */
type ReadMarkets = { lent: { valueUsd: number | null }[] | undefined }

/** USD that is lent on all chains. Null when a chain or a price is unknown. */
function lentUsdOf(chains: ReadMarkets[]): number | null {
  if (chains.some(({ lent }) => lent === undefined)) return null
  return sumKnownUsd(chains.flatMap(({ lent = [] }) => lent.map(({ valueUsd }) => valueUsd)))
}

const tokenBody = ({ asset, units, decimals, priceE8 }: Holding) => ({
  asset,
  balance: units.toString(),
  balanceFormatted: fromUnits(units, decimals),
  decimals,
  valueUsd: priceE8 === undefined ? null : toUsd(units, decimals, priceE8),
})
