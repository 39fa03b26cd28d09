import { describe, expect, test } from 'vitest'
import { safeText } from '../../../api/schemas/safeText.js'

describe('safeText', () => {
  test.each([
    ...['', 'a\0b', '\ud800', 'x\udc00', 'abcd', ' ', '\u3000', '\u200b', '\n'],
    ...['a\n', '\x7f', '\x85', 'a\ufffd'],
  ])('refuses %j', (text) => {
    expect(safeText(3).safeParse(text).success).toBe(false)
  })

  test.each(['abc', ' a ', 'ü', '😀', '\ufffc'])('takes %j', (text) => {
    expect(safeText(3).safeParse(text).success).toBe(true)
  })
})
