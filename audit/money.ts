import { isRevert, type ChainClient } from '../chains/connect.js'
import { isSameAddress } from '../chains/address.js'
import { readBalance } from '../chains/read.js'
import { assetText } from '../domain/money.js'
import { ServiceError } from '../domain/errors.js'
import { pageReserved, type ReservedUnits } from '../db/audit/rows.js'
import { pagesOf } from './pages.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/** What is reserved of each wallet's USDC against what it has at the booked block. */
export async function* auditMoney(
  { db, progress }: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { chainId, name, usdc } = client.chain
  const read = (page: { after: string; limit: number }) => pageReserved(db, chainId, page)
  progress(`${name}: money that is spoken for`)
  for await (const page of pagesOf(read, ({ walletId }) => walletId)) {
    // What stands in a market is counted in units of what it stands for: only the market knows.
    const own = page.filter(({ token }) => isSameAddress(token, usdc.address))
    const held = await Promise.all(own.map((spoken) => readHeld(client, spoken)))
    for (const [i, { wallet, units }] of own.entries()) {
      const balance = held[i]
      if (balance === undefined || balance >= BigInt(units)) continue
      const row = `${assetText(BigInt(units))} USDC are spoken for`
      const chain = `it has ${assetText(balance)} at the booked block`
      const mend = 'Its next step is refused. Look what took the money.'
      yield { check: 'money', about: `wallet ${wallet} on ${name}`, row, chain, mend }
    }
  }
}

/** Undefined where the node does not tell: that block is too old for it, or was taken back. */
async function readHeld(client: ChainClient, { wallet, token, block }: ReservedUnits) {
  try {
    return await readBalance(client, { token, owner: wallet, block: { blockHash: block } })
  } catch (error) {
    if (!(error instanceof ServiceError) || isRevert(error)) throw error
    return undefined
  }
}
