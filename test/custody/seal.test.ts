import { describe, expect, test } from 'vitest'
import { Wallet, getBytes, verifyMessage } from 'ethers'
import fc from 'fast-check'
import { openAccount } from '../../custody/open.js'
import { ENCAPSULATED_BYTES } from '../../custody/hpke.js'
import { createSealedAccount } from '../../custody/account.js'
import { seal, type SealContext } from '../../custody/seal.js'
import { holdsAsync } from '../domain/plan/holds.js'
import { makeKek } from './kek/kekFile.js'

const kek = await makeKek()
const owner = { purpose: 'wallet', owner: 'svc_wallet_1', accountId: 'acct_1' } as const
const { address, sealed } = createSealedAccount(kek, () => owner)
const context: SealContext = { ...owner, address, kekId: kek.id }

const refuses = (bytes: Uint8Array, other: Partial<SealContext> = {}, key = kek) =>
  expect(openAccount(key, bytes, { ...context, ...other })).rejects.toThrow()

describe('createSealedAccount', () => {
  test('opens to the account of its address, which can sign', async () => {
    const account = await openAccount(kek, sealed, context)
    expect(account.address).toBe(address)
    expect(verifyMessage('hello', await account.signMessage('hello'))).toBe(address)
  })

  test('returns the encapsulated key, the encrypted key and a tag of 16 bytes', () => {
    expect(sealed).toHaveLength(ENCAPSULATED_BYTES + 32 + 16)
  })

  test('creates a new account each time', () => {
    const other = createSealedAccount(kek, () => owner)
    expect(other.address).not.toBe(address)
    expect(other.sealed.equals(sealed)).toBe(false)
  })

  test('does not contain the clear key', async () => {
    const { privateKey } = await openAccount(kek, sealed, context)
    expect(sealed.toString('hex')).not.toContain(privateKey.slice(2))
  })
})

describe('openAccount', () => {
  test.each([
    ['purpose', 'sender'],
    ['owner', 'svc_wallet_2'],
    ['accountId', 'acct_2'],
    ['address', '0x00000000000000000000000000000000000000aA'],
    ['kekId', 'kek_0000000000000000'],
  ])('error: a secret that was moved to another %s', async (field, value) => {
    await refuses(sealed, { [field]: value })
  })

  test('error: characters moved from one field to the next', async () => {
    await refuses(sealed, { owner: 'svc_wallet_', accountId: '1acct_1' })
  })

  test.each([1, 4, 12, 15, 16, 47, 48])('error: a secret without its last %d bytes', async (n) => {
    await refuses(sealed.subarray(0, -n))
  })

  test('error: a secret with one more byte, and an empty one', async () => {
    await refuses(Buffer.concat([sealed, Buffer.from([0])]))
    await refuses(Buffer.alloc(0))
  })

  test('error: any flipped bit', async () => {
    const property = fc.asyncProperty(fc.nat(sealed.length * 8 - 1), async (bit) => {
      const altered = Buffer.from(sealed)
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      await refuses(altered)
    })
    await holdsAsync(property, 200)
  })

  test('error: another KEK, also one with the same id', async () => {
    const other = await makeKek()
    await refuses(sealed, {}, other)
    await refuses(sealed, {}, { ...other, id: kek.id })
  })

  test('error: a key of another address than the bound one', async () => {
    const stranger = Wallet.createRandom()
    const bytes = seal(kek, getBytes(stranger.privateKey), context)
    await expect(openAccount(kek, bytes, context)).rejects.toThrow('another address')
  })

  test('error: bytes that are not a private key, without showing them', async () => {
    const bytes = seal(kek, new Uint8Array(32), context)
    const refusal = await openAccount(kek, bytes, context).catch((error: unknown) => error as Error)
    expect(String((refusal as Error).message)).not.toContain('0'.repeat(32))
  })
})
