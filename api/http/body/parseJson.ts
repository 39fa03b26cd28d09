import { invalidRequest } from '../../../domain/errors.js'

/**
 * Parses the body of a request like `JSON.parse`, and rejects what that would change silently.
 *
 * @throws {ServiceError} INVALID_REQUEST when the bytes are not UTF-8 or not JSON, when an object has a name twice, or
 *   when a number has more digits than a double keeps.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  assertFaithful(text)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidRequest('', 'The body must be UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalidRequest('', 'The body is not valid JSON.')
  }
}

/** An open object or list. `at`: the name or index of its current member. */
type Container = { names?: Set<string>; at: string | number }

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],]/g

/** Checks what `JSON.parse` does not report, on valid JSON. Not recursive: a body may have thousands of levels. */
function assertFaithful(json: string): void {
  const open: Container[] = []
  const path = () => open.map(({ at }) => at).join('.')
  let isName = false
  for (const [token] of json.matchAll(tokens)) {
    const inner = open.at(-1)
    if (isName && token.startsWith('"') && !addName(inner, token)) throw repeatedName(path())
    if (/^[-\d]/.test(token) && !isExact(token)) throw inexactNumber(path())
    isName = token === '{' || (token === ',' && inner?.names !== undefined)
    move(open, token)
  }
}

/** Opens, continues or closes a container. Other tokens change nothing. */
function move(open: Container[], token: string): void {
  if (token === '{') open.push({ names: new Set(), at: '' })
  else if (token === '[') open.push({ at: 0 })
  else if (token === ',') step(open.at(-1))
  else if (token === '}' || token === ']') open.pop()
}

function step(list: Container | undefined): void {
  if (typeof list?.at === 'number') list.at += 1
}

/** Returns false when the object has the name already. */
function addName(object: Container | undefined, token: string): boolean {
  const name = JSON.parse(token) as string
  if (!object?.names) return true
  object.at = name
  const isNew = !object.names.has(name)
  object.names.add(name)
  return isNew
}

function repeatedName(path: string) {
  return invalidRequest(path, `${path} is in the body more than once. Send it once.`)
}

function inexactNumber(path: string) {
  const subject = path || 'The body'
  return invalidRequest(path, `${subject} is a number that loses digits. Send it as text.`)
}

/** Whether a JSON number has the value that its double is written as. */
function isExact(text: string): boolean {
  const double = Number(text)
  return Number.isFinite(double) && canonical(text) === canonical(String(double))
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Significant digits and exponent of a number: equal values have equal texts. */
function canonical(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  if (end === 0) return '0'
  const power = Number(exponent) - fraction.length + digits.length - end
  return `${sign}${digits.slice(0, end)}e${power}`
}
