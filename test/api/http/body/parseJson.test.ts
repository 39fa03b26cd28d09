import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../../api/http/body/parseJson.js'
import { ServiceError } from '../../../../domain/errors.js'
import { holds } from '../../../domain/plan/holds.js'

const parse = (json: string) => parseJson(Buffer.from(json))

/** Message and path of a refusal, undefined when the text is accepted. */
function refusal(json: string | Buffer): { message: string; path: unknown } | undefined {
  try {
    parseJson(Buffer.from(json as string))
    return undefined
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.code).toBe('INVALID_REQUEST')
    const [issue] = error.details.issues as { path: string }[]
    return { message: error.message, path: issue?.path }
  }
}

/** Spelled with escapes, exponents and space that `JSON.stringify` does not use. */
const spelled = (json: string) =>
  json
    .replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]/g, (token) => {
      if (/^[[{\]},:]/.test(token)) return ` ${token}\n`
      if (!token.startsWith('"')) return `${token}${/[eE]/.test(token) ? '' : 'e+00'}`
      return token.replace(/[a-z](?=[^\\]*"$)/, (letter) =>
        token.includes('\\') ? letter : `\\u00${letter.charCodeAt(0).toString(16)}`,
      )
    })
    .trim()

/** An exact fraction: digits over a power of ten. */
function toFraction(text: string): [bigint, number] {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  return [BigInt(sign + whole + fraction), Number(exponent) - fraction.length]
}

function areEqual(first: string, second: string): boolean {
  const [[a, powerA], [b, powerB]] = [toFraction(first), toFraction(second)]
  const least = Math.min(powerA, powerB)
  return a * 10n ** BigInt(powerA - least) === b * 10n ** BigInt(powerB - least)
}

describe('parseJson', () => {
  test('returns what JSON.parse returns, however the text is spelled', () => {
    holds(
      fc.property(fc.json({ depthSize: 'medium', stringUnit: 'binary' }), (json) => {
        expect(parse(json)).toEqual(JSON.parse(json))
        expect(parse(spelled(json))).toEqual(JSON.parse(json))
      }),
    )
  })

  test('rejects what JSON.parse rejects', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'a', '1', '-', '.', 'e')
    holds(
      fc.property(fc.string({ unit: pieces }), (text) => {
        let isValid = true
        try {
          JSON.parse(text)
        } catch {
          isValid = false
        }
        if (!isValid) expect(refusal(text)?.message).toBe('The body is not valid JSON.')
      }),
    )
  })

  test('accepts a number exactly when its text and its double have the same value', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...'0123456789'),
      minLength: 1,
      maxLength: 22,
    })
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(
          fc.constant('0'),
          digits.map((text) => `1${text}`),
        ),
        fc.oneof(
          fc.constant(''),
          digits.map((text) => `.${text}`),
        ),
        fc.oneof(
          fc.constant(''),
          fc.integer({ min: -30, max: 30 }).map((power) => `e${power}`),
        ),
      )
      .map((parts) => parts.join(''))
    holds(
      fc.property(number, (text) => {
        const isSame = areEqual(text, String(Number(text)))
        expect([text, refusal(text) === undefined]).toEqual([text, isSame])
      }),
    )
  })

  test('rejects every repeated name, at any depth and in any spelling', () => {
    const name = fc.string({ unit: 'binary' })
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 })
    holds(
      fc.property(names, fc.nat(), fc.nat({ max: 4 }), (all, pick, depth) => {
        const twice = all[pick % all.length] ?? ''
        const member = (text: string) => `${JSON.stringify(text)}:0`
        const object = `{${[...all, twice].map(member).join(',')}}`
        const json = `${'{"a":['.repeat(depth)}${object}${']}'.repeat(depth)}`
        // JSON.stringify escapes lone surrogates, so the text survives UTF-8.
        expect(refusal(json)?.path).toBe([...Array<string>(depth).fill('a.0'), twice].join('.'))
      }),
    )
  })

  test.each([
    ['{"a":1,"a":1}', 'a', 'a is in the body more than once. Send it once.'],
    ['{"a":1,"\\u0061":2}', 'a', 'a is in the body more than once. Send it once.'],
    ['{"m":[{},{"b":[],"b":1}]}', 'm.1.b', 'm.1.b is in the body more than once. Send it once.'],
    ['{"a":[1,1e400]}', 'a.1', 'a.1 is a number that loses digits. Send it as text.'],
    ['1e-400', '', 'The body is a number that loses digits. Send it as text.'],
  ])('%s: names the place', (json, path, message) => {
    expect(refusal(json)).toEqual({ path, message })
  })

  test.each(['1.000000000000000001', '0.123456789012345678', '9007199254740993', '-1e309'])(
    'rejects %s',
    (number) => {
      expect(refusal(`{"a":${number}}`)?.path).toBe('a')
    },
  )

  test.each([
    ...['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}', '{"a":"a","b":"a"}', '["a","a",1,1]'],
    ...[
      '{"__proto__":1,"constructor":2}',
      '0e999999999',
      '1.500',
      '1e23',
      '-0',
      '9007199254740992',
    ],
    ...[`${'['.repeat(8_000)}${']'.repeat(8_000)}`, `1${'0'.repeat(300)}.${'0'.repeat(16_000)}`],
  ])('accepts %s', (json) => {
    expect(refusal(json)).toBeUndefined()
  })

  test.each([[[0xff]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xe2, 0x82]]])(
    'rejects the bytes %j, which are not UTF-8',
    (bytes) => {
      const body = Buffer.concat([Buffer.from('"'), Buffer.from(bytes), Buffer.from('"')])
      expect(refusal(body)?.message).toBe('The body must be UTF-8.')
    },
  )
})
