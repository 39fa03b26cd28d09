import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { ENCAPSULATED_BYTES, openSealed, sealTo } from '../../custody/hpke.js'
import { suite } from '../../custody/seal.js'
import { holdsAsync } from '../domain/plan/holds.js'
import { makeKek } from './kek/kekFile.js'

const kek = await makeKek()
const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
const copyOf = (some: Uint8Array) => new Uint8Array(some)

/** Opens a sealed message with an independent library. */
async function openByLibrary(sealed: Uint8Array, associatedData: Uint8Array): Promise<Buffer> {
  const enc = copyOf(sealed.subarray(0, ENCAPSULATED_BYTES)).buffer
  const recipient = await suite.createRecipientContext({ recipientKey: kek.privateKey, enc })
  const ciphertext = copyOf(sealed.subarray(ENCAPSULATED_BYTES))
  return Buffer.from(await recipient.open(ciphertext, copyOf(associatedData)))
}

async function sealByLibrary(message: Uint8Array, associatedData: Uint8Array): Promise<Buffer> {
  const key = copyOf(kek.publicKey).buffer
  const recipientPublicKey = await suite.kem.deserializePublicKey(key)
  const sender = await suite.createSenderContext({ recipientPublicKey })
  const ciphertext = await sender.seal(copyOf(message), copyOf(associatedData))
  return Buffer.concat([Buffer.from(sender.enc), Buffer.from(ciphertext)])
}

describe('sealTo', () => {
  test('seals any message so that another implementation of RFC 9180 opens it', async () => {
    const property = fc.asyncProperty(bytes(100), bytes(300), async (message, data) => {
      const opened = await openByLibrary(sealTo(kek.publicKey, message, data), data)
      expect(opened.equals(message)).toBe(true)
    })
    await holdsAsync(property, 60)
  })

  test('uses a new ephemeral key each time, so that equal messages look different', () => {
    const message = new Uint8Array(32)
    const sealed = Array.from({ length: 50 }, () => sealTo(kek.publicKey, message, message))
    const heads = sealed.map((one) => one.subarray(0, ENCAPSULATED_BYTES).toString('hex'))
    const tails = sealed.map((one) => one.subarray(ENCAPSULATED_BYTES).toString('hex'))
    expect(new Set(heads).size).toBe(50)
    expect(new Set(tails).size).toBe(50)
  })

  test('error: a public key that is not a point of the curve', () => {
    const beside = Buffer.from(kek.publicKey)
    beside.writeUInt8(beside.readUInt8(64) ^ 1, 64)
    for (const key of [beside, kek.publicKey.subarray(0, -1), new Uint8Array(65)]) {
      expect(() => sealTo(key, new Uint8Array(32), new Uint8Array())).toThrow()
    }
  })
})

describe('openSealed', () => {
  test('opens a message that another implementation sealed', async () => {
    const property = fc.asyncProperty(bytes(100), bytes(300), async (message, data) => {
      const opened = await openSealed(kek, await sealByLibrary(message, data), data)
      expect(opened.equals(message)).toBe(true)
    })
    await holdsAsync(property, 60)
  })

  test('error: other associated data', async () => {
    const sealed = sealTo(kek.publicKey, new Uint8Array(32), Buffer.from('one'))
    await expect(openSealed(kek, sealed, Buffer.from('another'))).rejects.toThrow()
  })
})
