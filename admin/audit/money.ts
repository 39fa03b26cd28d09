import { isRevert, type ChainClient } from '../../evm/connect.js'
import { isSameAddress } from '../../evm/address.js'
import { readBalance } from '../../evm/read.js'
import { assetText } from '../../domain/money.js'
import { ServiceError } from '../../domain/errors.js'
import { pageReserved, type ReservedUnits } from './rows/rows.js'
import { pagesOf } from './pages.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

/** Compares the reserved USDC of each wallet with its balance at the indexed block. */
export async function* auditMoney(
  { db, progress }: AuditTools,
  client: ChainClient,
): AsyncGenerator<Difference> {
  const { chainId, name, usdc } = client.chain
  const read = (page: { after: string; limit: number }) => pageReserved(db, chainId, page)
  progress(`${name}: reservations`)
  for await (const page of pagesOf(read, ({ walletId }) => walletId)) {
    // Positions in markets are reserved in units of the underlying token, which only the market can convert.
    const own = page.filter(({ token }) => isSameAddress(token, usdc.address))
    const balances = await Promise.all(own.map((reserved) => findBalance(client, reserved)))
    for (const [i, { wallet, units }] of own.entries()) {
      const balance = balances[i]
      if (balance === undefined || balance >= BigInt(units)) continue
      const row = `${assetText(BigInt(units))} USDC reserved`
      const chain = `${assetText(balance)} USDC at the indexed block`
      const remedy = 'The signer rejects its next step. Find out where the money went.'
      yield { check: 'money', about: `wallet ${wallet} on ${name}`, row, chain, remedy }
    }
  }
}

/** Undefined when the node does not have the block: it is too old, or a reorg removed it. */
async function findBalance(client: ChainClient, { wallet, token, block }: ReservedUnits) {
  try {
    return await readBalance(client, { token, owner: wallet, block: { blockHash: block } })
  } catch (error) {
    if (!(error instanceof ServiceError) || isRevert(error)) throw error
    return undefined
  }
}
