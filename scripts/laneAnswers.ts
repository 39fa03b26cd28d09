import { readLanesInUse } from '../db/lanes/signing.js'
import { fromUnits } from '../domain/money.js'
import { readPurses, type Purse } from '../probe/purses.js'
import { useDeployment } from './deployment.js'
import { toTable } from './table.js'
import type { Answer } from './accountAnswers.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'

/** Treasury and lanes, what they hold, and what of them is under way. */
export function describeLanes(db: Db, env: NodeJS.ProcessEnv): Promise<Answer> {
  return useDeployment(env, async ({ registry, chains }) => {
    const [purses, lanes] = await Promise.all([readPurses(db, chains), readLanesInUse(db)])
    const treasuries = purses.filter(({ role }) => role === 'treasury')
    const used = lanes.map((lane) => {
      const chain = nameOf(registry, lane.chainId)
      const purse = purses.find(
        (one) => one.role === 'lane' && one.chain === chain && one.address === lane.sender,
      )
      return { chain, address: lane.sender, next: lane.nextNonce, open: lane.open, purse }
    })
    const names = ['CHAIN', 'ROLE', 'ADDRESS', 'BALANCE', 'NEXT NONCE', 'OPEN', 'LASTS']
    const rows = [
      ...treasuries.map((purse) => {
        const { chain, address, asset, lasts } = purse
        const what = asset === 'ETH' ? 'lends' : 'fundings'
        return [chain, 'treasury', address, held(purse), '-', '-', `${lasts} ${what}`]
      }),
      ...used.map(({ chain, address, next, open, purse }) => [
        ...[chain, 'lane', address, held(purse), String(next), String(open)],
        purse ? `${purse.lasts} lends` : '-',
      ]),
    ]
    const none = 'No treasury and no lanes yet: the signer makes them at its first start.'
    const json = {
      treasury: treasuries.map(toJson),
      lanes: used.map(({ next, open, purse, ...lane }) => ({
        ...lane,
        ...(purse ? toJson(purse) : { balance: null, lasts: null }),
        ...{ nextNonce: Number(next), openNonces: open },
      })),
    }
    return { text: toTable(none, names, rows), json }
  })
}

/** A chain that is not in the deployment any more has its number. */
const nameOf = ({ chains }: Registry, id: bigint) =>
  chains.find(({ chainId }) => BigInt(chainId) === id)?.name ?? String(id)

const balanceOf = ({ asset, units }: Purse) => fromUnits(units, asset === 'ETH' ? 18 : 6)
const held = (purse: Purse | undefined) =>
  purse ? `${balanceOf(purse)} ${purse.asset}` : 'no answer'

const toJson = (purse: Purse) => ({
  ...{ chain: purse.chain, address: purse.address, asset: purse.asset },
  ...{ balance: balanceOf(purse), lasts: Number(purse.lasts) },
})
