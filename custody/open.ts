import { Wallet, hexlify } from 'ethers'
import { ENCAPSULATED_BYTES, associatedData, suite, type SealContext } from './seal.js'
import type { PrivateKek } from './kek/file.js'

/**
 * Opens a sealed key for one use. The account is not cached: what is not in memory cannot be read
 * from it.
 *
 * @throws Error when the secret was sealed to another KEK, belongs to another row or was altered.
 */
export async function openAccount(
  kek: PrivateKek,
  sealed: Uint8Array,
  context: SealContext,
): Promise<Wallet> {
  if (context.kekId !== kek.id) throw new Error(`The key is sealed to ${context.kekId}.`)
  const bytes = new Uint8Array(sealed)
  const recipient = await suite.createRecipientContext({
    recipientKey: kek.privateKey,
    enc: bytes.slice(0, ENCAPSULATED_BYTES).buffer,
  })
  const ciphertext = bytes.slice(ENCAPSULATED_BYTES).buffer
  const privateKey = new Uint8Array(await recipient.open(ciphertext, associatedData(context)))
  try {
    const account = new Wallet(hexlify(privateKey))
    if (account.address !== context.address) throw new Error('The key is not of this address.')
    return account
  } finally {
    privateKey.fill(0)
  }
}
