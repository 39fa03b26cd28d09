import type { Wallet } from 'ethers'
import { openAccount } from '../../custody/open.js'
import { refusal } from '../../custody/policy.js'
import type { PrivateKek } from '../../custody/kek/file.js'
import type { WalletSecret } from '../../db/keys.js'
import type { Keyring } from '../signingContext.js'

/** Opens the key of a wallet for one use. @throws {Error} when it is not the key of this row. */
export const openWalletKey = (kek: PrivateKek, secret: WalletSecret): Promise<Wallet> =>
  openAccount(kek, secret.sealed, { purpose: 'wallet', owner: secret.walletId, ...secret })

/**
 * Ensures that the sealed key of a wallet opens and is that of its address, before the treasury pays it. Other roles
 * insert wallets.
 *
 * @throws {ServiceError} INTERNAL when it does not.
 */
export async function assertOpens({ kek }: Keyring, secret: WalletSecret): Promise<void> {
  await openWalletKey(kek, secret).catch(() => {
    throw refusal('the key of the wallet must open and belong to its address.')
  })
}
