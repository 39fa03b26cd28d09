import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { Services } from '../../http/services.js'

/** The wallet resource. */
export function walletBody(wallet: StoredWallet, { chains }: Services['registry']) {
  return {
    id: wallet.id,
    userId: wallet.userId,
    address: wallet.address,
    chainType: 'ethereum',
    chains: chains.map(({ name }) => name),
    metadata: wallet.metadata,
    createdAt: wallet.createdAt.toISOString(),
  }
}
