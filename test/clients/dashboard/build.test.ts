import { beforeAll, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { buildBeside } from '../../../dev/stack/dashboard.js'

const FIRST_PAGE_BYTES = 180_000
const BUILD_MS = 120_000

const folder = path.resolve('clients/dashboard/dist')
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')

beforeAll(async () => {
  await buildBeside()
}, BUILD_MS)

/** An asset with all its static imports. */
function closureOf(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known
  known.add(name)
  const imports = read(`assets/${name}`).matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)
  for (const [, next = ''] of imports) closureOf(next, known)
  return known
}

const entry = () => /src="\/dashboard\/assets\/([\w.-]+\.js)"/.exec(read('index.html'))?.[1] ?? ''
const pageOf = (name: string) =>
  new RegExp(`\\./(${name}-[\\w-]+\\.js)`).exec(read(`assets/${entry()}`))?.[1] ?? ''

test('the first page loads at most 180 kB of compressed JavaScript', () => {
  const files = closureOf(pageOf('Overview'), closureOf(entry()))
  const sizes = [...files].map(
    (file) => readFileSync(path.join(folder, 'assets', `${file}.gz`)).length,
  )
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(files.size).toBeGreaterThan(3)
  expect(total).toBeLessThanOrEqual(FIRST_PAGE_BYTES)
})

test('the page has no inline script and no inline style, which the policy forbids', () => {
  const html = read('index.html')
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/)
  expect(html).not.toMatch(/<style|\sstyle=/)
})
