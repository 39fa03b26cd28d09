import { describe, expect, test } from 'vitest'
import { AbiCoder, Interface } from 'ethers'
import { explainRevert } from '../../evm/calls/reverts.js'

const errors = new Interface([
  'error Error(string)',
  'error Panic(uint256)',
  'error ExecuteError(uint256 index, bytes inner)',
  'error ERC20InsufficientBalance(address, uint256, uint256)',
  'error Paused()',
  'error Other(uint256)',
])
const encode = (name: string, ...values: unknown[]) => errors.encodeErrorResult(name, values)
const inBatch = (error: string) => encode('ExecuteError', 1, error)
const sender = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

describe('explainRevert', () => {
  /** Return data of chains: the first four bytes of a name's hash, so that a mistyped name fails. */
  test.each([
    ['0x2c5211c6', 'the amount is zero or too small (InvalidAmount())'],
    ['0x90cd6f24', 'the reserve is not active (ReserveInactive())'],
    ['0x6d305815', 'the reserve is frozen (ReserveFrozen())'],
    ['0xd37f5f1c', 'the reserve is paused (ReservePaused())'],
    ['0x47bc4b2c', 'the amount exceeds the position (NotEnoughAvailableUserBalance())'],
    ['0xf58f733a', 'the supply cap is reached (SupplyCapExceeded())'],
    [
      '0xe273b446',
      'the amount exceeds the position, and the loan would be too small (BorrowTooSmall())',
    ],
    [
      '0x14c5f7b6',
      'the amount exceeds the position, and the loan would have no collateral (NotCollateralized())',
    ],
    [
      '0x4323a555',
      'the vault cannot withdraw that much from its markets now (NotEnoughLiquidity())',
    ],
    ['0xded0652d', 'the vault has reached all its caps (AllCapsReached())'],
  ])('%s', (data, text) => {
    expect(explainRevert(data)).toBe(text)
  })

  test.each([
    [encode('Error', '29'), 'the reserve is paused (Aave 29)'],
    [encode('Error', 'Too little received'), 'Too little received'],
    [encode('Error', 'Pausable: paused'), 'Circle has paused it (Pausable: paused)'],
    [encode('Error', '94'), 'the reserve itself cannot be the receiver (Aave 94)'],
    [encode('Panic', 17), 'arithmetic overflow in the contract (Panic(17))'],
    [encode('Panic', 1), 'Panic(1)'],
    [encode('Paused'), 'the market is paused (Paused())'],
    [encode('ERC20InsufficientBalance', sender, 1, 2), `ERC20InsufficientBalance(${sender}, 1, 2)`],
  ])('%s, alone and as a call of a batch', (data, text) => {
    expect(explainRevert(data)).toBe(text)
    expect(explainRevert(inBatch(data))).toBe(text)
  })

  test.each([
    ['nothing', '0x'],
    ['no data', null],
    ['an unknown error', encode('Other', 1)],
    ['a selector alone', encode('Error', 'no').slice(0, 10)],
    ['a batch of nothing', inBatch('0x')],
    ['words without an error', AbiCoder.defaultAbiCoder().encode(['uint256'], [1])],
  ])('undefined for %s', (_what, data) => {
    expect(explainRevert(data)).toBeUndefined()
  })

  test('is at most 200 characters long', () => {
    expect(explainRevert(encode('Error', 'x'.repeat(10_000)))).toHaveLength(200)
  })
})
