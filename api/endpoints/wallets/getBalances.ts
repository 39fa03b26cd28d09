import { z } from 'zod'
import { askChains, unavailableField } from '../../../evm/rpc/askChains.js'
import { readHoldings, type Holding } from '../../../evm/balances.js'
import { walletById } from '../../../db/accounts/wallets.js'
import { defaultLimits } from '../../../domain/limits.js'
import { fromUnits, sumUsd, toUsd } from '../../../domain/money.js'
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
        'Returns the token balances of a wallet, read from the chains during the call. A chain that does not respond is listed in `unavailable` and missing in `chains`.',
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
      const holdings = await readHoldings(client, { owner: wallet.address, limits })
      return { chain: client.chain.name, tokens: holdings.map(tokenBody) }
    })
    const values = answers.flatMap(({ tokens }) => tokens.flatMap(({ valueUsd }) => valueUsd ?? []))
    const body = {
      walletId: wallet.id,
      address: wallet.address,
      chains: answers,
      totalValueUsd: sumUsd(values),
      ...unavailableField(unavailable),
    }
    return { status: 200, body }
  },
)

const tokenBody = ({ asset, units, decimals, priceE8 }: Holding) => ({
  asset,
  balance: units.toString(),
  balanceFormatted: fromUnits(units, decimals),
  decimals,
  valueUsd: priceE8 === undefined ? null : toUsd(units, decimals, priceE8),
})
