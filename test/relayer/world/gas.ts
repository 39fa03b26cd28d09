import { Transaction, toQuantity } from 'ethers'
import type { Decide } from '../../support/faultProxy.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import { usdcUnits, type Lend, type World } from './fixture.js'

export const ETHER = 10n ** 18n

export const setBalance = (world: World, address: string, wei: bigint) =>
  world.rpc('anvil_setBalance', [address, toQuantity(wei)])

/** Drains the given senders and funds the others. */
export async function drainGas(world: World, dry: string[]): Promise<void> {
  for (const sender of world.senders) {
    await setBalance(world, sender, dry.includes(sender) ? 0n : ETHER)
  }
}

/** Leaves one sender with gas, so that the test knows which one is next. */
export async function serveBy(world: World, sender: string): Promise<void> {
  const others = world.senders.filter((one) => one !== sender)
  await world.db('sender').update({ out_of_gas_since: null, unpaid_gas: null })
  await world
    .db('sender')
    .whereIn('sender', others)
    .update({
      out_of_gas_since: world.db.raw('clock_timestamp()'),
      unpaid_gas: (10n ** 30n).toString(),
    })
}

/**
 * At least `count` wallets with USDC, and more until each sender serves some of them. The random id of a wallet decides
 * its sender.
 */
export async function walletsOfEachSender(world: World, count: number): Promise<StoredWallet[]> {
  const wallets = await world.createWallets(count, usdcUnits)
  while ((await countSenders(world, wallets)) < world.senders.length) {
    wallets.push(await world.createWallet(usdcUnits))
  }
  return wallets
}

async function countSenders(world: World, wallets: StoredWallet[]): Promise<number> {
  const { rows } = await world.db.raw<{ rows: { senders: number }[] }>(
    `select count(distinct mod(abs(hashtext(id)::bigint), ?))::int as senders
     from wallet where id = any(?)`,
    [world.senders.length, wallets.map(({ id }) => id)],
  )
  return rows[0]?.senders ?? 0
}

/** The senders of the operations, in order. */
export async function sendersOf(
  world: World,
  lends: Pick<Lend, 'operationId'>[],
): Promise<string[]> {
  const ids = lends.map(({ operationId }) => operationId)
  const rows = await world
    .db('operation as o')
    .join('chain_tx as t', 't.id', 'o.tx_id')
    .whereIn('o.id', ids)
    .select<{ id: string; sender: string }[]>('o.id', 't.sender')
  return ids.flatMap((id) => rows.find((row) => row.id === id)?.sender ?? [])
}

export const isOutOfGas = async (world: World, sender: string): Promise<boolean> => {
  const row = await world
    .db('sender')
    .where({ sender })
    .first<{ out_of_gas_since: Date | null }>('out_of_gas_since')
  return row.out_of_gas_since !== null
}

/** Signs until no operation is claimed. */
export async function signAll(world: World): Promise<void> {
  while (await world.sign());
}

/**
 * Public nodes differ from the devnet: they reject a transaction that its sender cannot pay on top of
 * its waiting ones.
 *
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/validation.go
 */
export function refusesOverdrafts(world: World): Decide {
  const waiting = new Map<string, Transaction>()
  return async ({ method, params: [raw] }) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const tx = Transaction.from(raw as string)
    const from = tx.from ?? ''
    const used = await world.rpc<string>('eth_getTransactionCount', [from, 'latest'])
    const before = [...waiting.values()].filter(
      (one) => one.from === from && one.nonce !== tx.nonce,
    )
    const queued = sumCost(before.filter(({ nonce }) => nonce >= Number(used)))
    const balance = await world.ethOf(from)
    if (balance < queued + sumCost([tx])) {
      const facts = `balance ${balance}, queued cost ${queued}, tx cost ${sumCost([tx])}`
      const message = `insufficient funds for gas * price + value: ${facts}`
      return { refuse: { code: -32_000, message } }
    }
    waiting.set(`${from}/${tx.nonce}`, tx)
    return undefined
  }
}

const sumCost = (transactions: Transaction[]): bigint =>
  transactions.reduce((sum, tx) => sum + tx.gasLimit * (tx.maxFeePerGas ?? 0n) + tx.value, 0n)
