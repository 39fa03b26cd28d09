import { describe, expect, test } from 'vitest'
import { safeText } from '../../../api/schemas/safeText.js'

describe('safeText', () => {
  test.each(['', 'a\0b', '\ud800', 'x\udc00', 'abcd'])('refuses %j', (text) => {
    expect(safeText(3).safeParse(text).success).toBe(false)
  })

  test.each(['abc', ' ', 'ü', '😀', '\n'])('takes %j', (text) => {
    expect(safeText(3).safeParse(text).success).toBe(true)
  })
})
