import { describe, expect, test } from 'vitest'
import { Transaction, Wallet, hexlify, randomBytes } from 'ethers'
import { readSent } from '../../../dev/devnet/sent.js'

const sender = new Wallet(Wallet.createRandom().privateKey)
const to = sender.address
const chainId = 421_614
const priced = { chainId, gasLimit: 100_000n, value: 7n, gasPrice: 10n ** 9n }
const usual = {
  ...{ type: 2, chainId, gasLimit: 30_000_000n, value: 2n ** 70n },
  ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 3n },
}
const delegation = () => {
  const { signingKey, address } = Wallet.createRandom()
  const wallet = new Wallet(signingKey)
  return wallet.authorizeSync({ address, nonce: 0n, chainId: BigInt(chainId) })
}

describe('readSent agrees with ethers', () => {
  test.each([
    ['of the first kind', { ...priced, type: 0, to, nonce: 0 }],
    ['with an access list', { ...priced, type: 1, to, nonce: 1 }],
    ['with fees of its own', { ...usual, to, nonce: 0 }],
    ['with little data', { ...usual, to, nonce: 127, data: '0x01' }],
    ['with a nonce of two bytes', { ...usual, to, nonce: 300, data: hexlify(randomBytes(40)) }],
    ['that is long', { ...usual, to, nonce: 5, data: hexlify(randomBytes(20_000)) }],
    ['that creates a contract', { ...usual, nonce: 5, data: hexlify(randomBytes(300)) }],
  ])('a transaction %s', async (_kind, call) => {
    expectAlike(await sender.signTransaction(call))
  })

  test.each([1, 20])('%s delegations', async (count) => {
    const authorizationList = Array.from({ length: count }, delegation)
    expectAlike(
      await sender.signTransaction({ ...usual, type: 4, to, nonce: 1, authorizationList }),
    )
  })

  test('undefined for truncated bytes and for an invalid signature', async () => {
    const raw = await sender.signTransaction({ ...usual, to, nonce: 1 })
    const { unsignedSerialized } = Transaction.from(raw)
    const broken = ['0x', '0x02', '0x00', raw.slice(0, -2), unsignedSerialized]
    expect(broken.map(readSent)).toEqual(broken.map(() => undefined))
    const unsound = raw.slice(0, -64) + 'f'.repeat(64)
    expect(readSent(unsound)?.sender()).toBeUndefined()
  })
})

function expectAlike(raw: string): void {
  const known = Transaction.from(raw)
  const sent = readSent(raw)
  expect({ ...sent, sender: sent?.sender(), data: sent?.data.toString('hex') }).toEqual({
    bytes: Buffer.from(raw.slice(2), 'hex'),
    chainId: known.chainId,
    nonce: BigInt(known.nonce),
    gasLimit: known.gasLimit,
    maxFeeWei: known.maxFeePerGas ?? known.gasPrice,
    tipWei: known.maxPriorityFeePerGas ?? known.gasPrice,
    valueWei: known.value,
    isCreation: known.to === null,
    data: known.data.slice(2),
    authorizations: known.authorizationList?.length ?? 0,
    sender: sender.address,
  })
}
