import { describe, expect, test } from '@jest/globals'
import { AbiCoder, Interface } from 'ethers'
import { explainRevert } from '../../protocols/reverts.js'

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
  test.each([
    [encode('Error', '29'), 'the reserve is paused (Aave 29)'],
    [encode('Error', 'Too little received'), 'Too little received'],
    [encode('Error', 'Pausable: paused'), 'Circle has paused it (Pausable: paused)'],
    [encode('Panic', 17), 'Panic(17)'],
    [encode('Paused'), 'Paused()'],
    [encode('ERC20InsufficientBalance', sender, 1, 2), `ERC20InsufficientBalance(${sender}, 1, 2)`],
  ])('%s, alone and as a call of a batch', (data, text) => {
    expect(explainRevert(data)).toBe(text)
    expect(explainRevert(inBatch(data))).toBe(text)
  })

  test.each([
    ['nothing', '0x'],
    ['no data', null],
    ['an error that nobody knows', encode('Other', 1)],
    ['a selector alone', encode('Error', 'no').slice(0, 10)],
    ['a batch of nothing', inBatch('0x')],
    ['words without an error', AbiCoder.defaultAbiCoder().encode(['uint256'], [1])],
  ])('undefined for %s', (_what, data) => {
    expect(explainRevert(data)).toBeUndefined()
  })

  test('is not longer than a line', () => {
    expect(explainRevert(encode('Error', 'x'.repeat(10_000)))).toHaveLength(200)
  })
})
