import { readLanesInUse } from '../db/lanes/signing.js'
import { fromUnits } from '../domain/money.js'
import { readPurses, type Purse } from '../probe/purses.js'
import { useDeployment } from './deployment.js'
import { toTable } from './table.js'
import type { CommandOutput } from './accountAnswers.js'
import type { Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'

/** Treasury and senders, with their balances and open nonces. */
export function describeLanes(db: Db, env: NodeJS.ProcessEnv): Promise<CommandOutput> {
  return useDeployment(env, async ({ registry, chains }) => {
    const [balances, senders] = await Promise.all([readPurses(db, chains), readLanesInUse(db)])
    const treasuries = balances.filter(({ role }) => role === 'treasury')
    const used = senders.map(({ sender: address, chainId, nextNonce: next, open }) => {
      const chain = nameOf(registry, chainId)
      const balance = balances.find(
        (one) => one.role === 'lane' && one.chain === chain && one.address === address,
      )
      return { chain, address, next, open, balance }
    })
    const names = ['CHAIN', 'ROLE', 'ADDRESS', 'BALANCE', 'NEXT NONCE', 'OPEN', 'LASTS']
    const rows = [
      ...treasuries.map((balance) => {
        const { chain, address, asset, lasts } = balance
        const unit = asset === 'ETH' ? 'lends' : 'fundings'
        return [chain, 'treasury', address, textOf(balance), '-', '-', `${lasts} ${unit}`]
      }),
      ...used.map(({ chain, address, next, open, balance }) => [
        ...[chain, 'sender', address, textOf(balance), String(next), String(open)],
        balance ? `${balance.lasts} lends` : '-',
      ]),
    ]
    const none = 'No treasury and no senders. The signer creates them at its first start.'
    const json = {
      treasury: treasuries.map(toJson),
      lanes: used.map(({ next, open, balance, ...sender }) => ({
        ...sender,
        ...(balance ? toJson(balance) : { balance: null, lasts: null }),
        ...{ nextNonce: Number(next), openNonces: open },
      })),
    }
    return { text: toTable(none, names, rows), json }
  })
}

/** The name of a chain; its id when it is no longer part of the deployment. */
const nameOf = ({ chains }: Registry, id: bigint) =>
  chains.find(({ chainId }) => BigInt(chainId) === id)?.name ?? String(id)

const amountOf = ({ asset, units }: Purse) => fromUnits(units, asset === 'ETH' ? 18 : 6)
const textOf = (balance: Purse | undefined) =>
  balance ? `${amountOf(balance)} ${balance.asset}` : 'no answer'

const toJson = (balance: Purse) => ({
  ...{ chain: balance.chain, address: balance.address, asset: balance.asset },
  ...{ balance: amountOf(balance), lasts: Number(balance.lasts) },
})
