import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../api/http/body/parseJson.js'
import { parseObject } from '../../../clients/cli/src/options.js'

describe('parseObject', () => {
  test.each([
    '{"tier":"gold","order":"12345678901234567890"}',
    '{"a":{"a":1},"b":[{"a":1},{"a":2}],"":""}',
    '{"a:1,\\"a\\"":"\\"b\\":1","__proto__":1}',
    '{"n":[0,-0,1.0,1e2,1E+2,100,0.050,123456789012345680000,5e-324]}',
  ])('%s is accepted, as by the API', (text) => {
    expect(parseObject(text)).toEqual(JSON.parse(text))
    expect(() => parseJson(Buffer.from(text))).not.toThrow()
  })

  test.each([
    ['{"a":1,"a":2}', '"a" is in the object more than once'],
    ['{"x":{"a":1,"\\u0061":1}}', '"a" is in the object more than once'],
    ['{"b":1,"a":{"b":1},"a":2}', '"a" is in the object more than once'],
    ['{"a":1,"b":[{"":1 , "" : 2}]}', '"" is in the object more than once'],
    ['{"a":1,"order":12345678901234567890}', '12345678901234567890 is a number that loses digits'],
    ['{"x":[0.1234567890123456789]}', '0.1234567890123456789 is a number that loses digits'],
    ['{"x":1e400}', '1e400 is a number that loses digits'],
    ['{"x":-1E-400}', '-1E-400 is a number that loses digits'],
    ['[1]', 'JSON object'],
    ['{"a":1', 'JSON object'],
  ])('error: %s', (text, message) => {
    expect(() => parseObject(text)).toThrow(message)
    if (text.startsWith('{')) expect(() => parseJson(Buffer.from(text))).toThrow()
  })
})
