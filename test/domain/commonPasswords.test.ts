import { describe, expect, test } from 'vitest'
import { isCommonPassword } from '../../domain/commonPasswords.js'

describe('isCommonPassword', () => {
  test.each([
    ...['passwordpassword', 'Password1234', 'QWERTY123456789', 'administrator', '123456789012'],
    // Full-width letters are the same text.
    ...['ｐａｓｓｗｏｒｄ1234', 'aaaaaaaaaaaaa', 'abcabcabcabc', '123412341234'],
  ])('is true for %s', (password) => {
    expect(isCommonPassword(password)).toBe(true)
  })

  test.each(['correct horse battery', 'a sentence works well', 'Zx9!pQ2#vL7m'])(
    'is false for %s',
    (password) => {
      expect(isCommonPassword(password)).toBe(false)
    },
  )
})
