import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Transaction, Wallet, getAddress } from 'ethers'
import { signTransaction, type UnsignedTransaction } from '../../../signer/build/transaction.js'

const seed = process.env.ENCODING_SEED ?? randomBytes(4).toString('hex')
const ROUNDS = 20

let drawn = 0
/** Hex bytes of a given length, deterministic for a seed. */
function hex(length: number): string {
  let digits = ''
  while (digits.length < 2 * length) {
    digits += createHash('sha256').update(`${seed} ${drawn++}`).digest('hex')
  }
  return `0x${digits.slice(0, 2 * length)}`
}
const below = (limit: number) => Number(BigInt(hex(4)) % BigInt(limit))
/** Numbers of any size, including zero and leading zero bytes. */
const amount = () => (below(4) === 0 ? 0n : BigInt(hex(1 + below(9))) >> BigInt(below(8)))
const sender = new Wallet(hex(32))

describe(`signTransaction (ENCODING_SEED=${seed})`, () => {
  test('returns the same bytes as ethers', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const unsigned = randomTransaction()
      const { raw, hash } = signTransaction(sender, unsigned)
      const { authorizationList, nonce, ...rest } = unsigned
      const request = { ...rest, nonce: Number(nonce), type: authorizationList ? 4 : 2 }
      const known = await sender.signTransaction({
        ...request,
        ...(authorizationList && { authorizationList }),
      })
      expect(raw).toBe(known)
      expect(hash).toBe(Transaction.from(known).hash)
    }
  })

  test.each([0, 1, 2, 54, 55, 56, 57, 255, 256, 65_535, 65_536])('%i bytes of data', (length) => {
    const unsigned = { ...randomTransaction(), data: hex(length) }
    expect(Transaction.from(signTransaction(sender, unsigned).raw)).toMatchObject({
      ...{ data: unsigned.data, from: sender.address, nonce: Number(unsigned.nonce) },
    })
  })

  test('error: data that is not whole hex bytes', () => {
    for (const data of ['0x1', '0x12zz', '12']) {
      expect(() => signTransaction(sender, { ...randomTransaction(), data })).toThrow()
    }
  })
})

function randomTransaction(): UnsignedTransaction {
  const authorizations = below(3)
  const [tip, rest] = [amount(), amount()]
  return {
    ...{ chainId: 1 + below(500_000), nonce: BigInt(below(300)), to: getAddress(hex(20)) },
    ...{ data: hex(below(400)), value: amount(), gasLimit: amount() },
    ...{ maxFeePerGas: tip + rest, maxPriorityFeePerGas: tip },
    ...(authorizations > 0 && {
      authorizationList: Array.from({ length: authorizations }, randomAuthorization),
    }),
  }
}

function randomAuthorization() {
  const [address, chainId] = [getAddress(hex(20)), BigInt(below(3) * 421_614)]
  const wallet = new Wallet(hex(32))
  const { signature } = wallet.authorizeSync({ address, nonce: 0n, chainId })
  return { address, nonce: '0', chainId: `${chainId}`, signature: signature.serialized }
}
