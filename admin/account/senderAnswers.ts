import { readSendersInUse } from '../../operations/signing/signing.js'
import { fromUnits } from '../../domain/money.js'
import { readOperatorBalances, type OperatorBalance } from '../../operations/health/gasBalances.js'
import { useDeployment } from '../deployment.js'
import { toTable } from './table.js'
import type { CommandOutput } from './accountAnswers.js'
import type { Registry } from '../../evm/registry.js'
import type { Db } from '../../db/client/connect.js'

/** Treasury and senders, with their balances and open nonces. */
export function describeSenders(db: Db, env: NodeJS.ProcessEnv): Promise<CommandOutput> {
  return useDeployment(env, async ({ registry, chains }) => {
    const [balances, senders] = await Promise.all([
      readOperatorBalances(db, chains),
      readSendersInUse(db),
    ])
    const treasuries = balances.filter(({ role }) => role === 'treasury')
    const used = senders.map(({ address, chainId, nextNonce: next, open }) => {
      const chain = nameOf(registry, chainId)
      const balance = balances.find(
        (one) => one.role === 'sender' && one.chain === chain && one.address === address,
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
      senders: used.map(({ next, open, balance, ...sender }) => ({
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

const amountOf = ({ asset, units }: OperatorBalance) => fromUnits(units, asset === 'ETH' ? 18 : 6)
const textOf = (balance: OperatorBalance | undefined) =>
  balance ? `${amountOf(balance)} ${balance.asset}` : 'no answer'

const toJson = (balance: OperatorBalance) => ({
  ...{ chain: balance.chain, address: balance.address, asset: balance.asset },
  ...{ balance: amountOf(balance), lasts: Number(balance.lasts) },
})
