import { SigningKey, Wallet } from 'ethers'
import { openSealed } from './hpke.js'
import { associatedData, type SealContext } from './seal.js'
import type { PrivateKek } from './kek/file.js'

/**
 * Opens a sealed key for one use. The account is not cached, so that memory contains no more keys than needed.
 *
 * @throws {Error} when the secret was sealed to another KEK, belongs to another row, or was altered.
 */
export async function openAccount(
  kek: PrivateKek,
  sealed: Uint8Array,
  context: SealContext,
): Promise<Wallet> {
  if (context.kekId !== kek.id)
    throw new Error(`The key is sealed to ${context.kekId}, not to ${kek.id}.`)
  const privateKey = await openSealed(kek, sealed, associatedData(context))
  try {
    const account = new Wallet(new SigningKey(privateKey))
    if (account.address !== context.address) throw new Error('The key belongs to another address.')
    return account
  } finally {
    privateKey.fill(0)
  }
}
