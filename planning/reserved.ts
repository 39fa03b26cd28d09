import { readReserved, readReservedAhead, type BookedBlock } from '../db/lanes/reservations.js'
import type { Chain } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'

/** Tokens of a wallet on one chain whose balances were read at a block; `isAhead`: one that is not booked. */
type Purses = { client: { chain: Chain }; booked: BookedBlock; isAhead?: true; tokens: string[] }

/** Base units of a token on a chain that are spoken for at the block at which its balance was read. */
export type Reserved = (chain: Chain, token: string) => bigint

/** What intents hold of the money that was read. Throws for what was not asked about: it would count as free. */
export async function readReservedOf(trx: Db, walletId: string, read: Purses[]): Promise<Reserved> {
  const purses = read.flatMap(({ client, booked: at, isAhead, tokens }) =>
    tokens.map((token) => ({ chain: client.chain, token, at, isAhead })),
  )
  const booked = purses.filter(({ isAhead }) => !isAhead)
  const ahead = purses.filter(({ isAhead }) => isAhead)
  const units = await readReserved(trx, walletId, booked)
  for (const { token, at } of ahead) {
    units.push(await readReservedAhead(trx, { walletId, token }, at))
  }
  const known = new Map(
    [...booked, ...ahead].map((one, i) => [keyOf(one.chain, one.token), units[i]]),
  )
  return (chain, token) => {
    const reserved = known.get(keyOf(chain, token))
    if (reserved === undefined) throw new Error(`What is held of ${token} was not asked.`)
    return reserved
  }
}

const keyOf = ({ chainId }: Chain, token: string) => `${chainId}/${token}`
