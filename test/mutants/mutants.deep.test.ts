import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = ['--import', 'tsx', join(root, 'test/mutants/main.ts')]

const limit = 'export const limit = 3\nexport const isWithin = (count) => count <= limit\n'
/** A patch of the second line. */
const patch = (test: string, line: string, context = 'export const limit = 3') =>
  `Something is broken.
Caught by ${test}
--- a/limit.js
+++ b/limit.js
@@ -1,2 +1,2 @@
 ${context}
-export const isWithin = (count) => count <= limit
+${line}
`
const edge = 'test/edge.test.js'
const bugs = 'test/mutants/room'

/** A tree with two tests, of which one looks at the edge, and bugs of every fate. */
const files = {
  'package.json': '{ "type": "module" }',
  'vitest.config.js': "export default { test: { dir: 'test' } }",
  '.gitignore': 'node_modules',
  'limit.js': limit,
  [edge]: `import { expect, test } from 'vitest'
    import { isWithin } from '../limit.js'
    test('2 is within', () => expect(isWithin(2)).toBe(true))
    test('3 is within', () => expect(isWithin(3)).toBe(true))`,
  'test/blind.test.js': `import { expect, test } from 'vitest'
    import { isWithin } from '../limit.js'
    test('9 is not within', () => expect(isWithin(9)).toBe(false))`,
  'test/red.test.js': `import { expect, test } from 'vitest'
    test('is red', () => expect(1).toBe(2))`,
  [`${bugs}/caught.patch`]: patch(edge, 'export const isWithin = (count) => count < limit'),
  [`${bugs}/survives.patch`]: patch(
    ...['test/blind.test.js', 'export const isWithin = (count) => count < limit'],
  ),
  [`${bugs}/stale.patch`]: patch(edge, '// nothing', 'export const limit = 4'),
  [`${bugs}/broken.patch`]: patch(edge, 'export const isWithin = ('),
  [`${bugs}/gross.patch`]: patch(edge, 'export const isWithin = () => { throw new Error() }'),
  [`${bugs}/endless.patch`]: patch(edge, 'export const isWithin = () => { for (;;); }'),
  [`${bugs}/red.patch`]: patch('test/red.test.js', '// nothing'),
  [`${bugs}/absent.patch`]: patch('test/absent.test.js', '// nothing'),
} as Record<string, string>

let folder: string
let temporary: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'steward-fixture-'))
  temporary = mkdtempSync(join(tmpdir(), 'steward-fixture-tmp-'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('git', ['init', '--quiet'], { cwd: folder })
})
afterAll(() => {
  for (const path of [folder, temporary]) rmSync(path, { recursive: true, force: true })
})

type ProgramResult = { code: number; lines: string[] }

function plant(...args: string[]): Promise<ProgramResult> {
  const env = { ...process.env, NODE_OPTIONS: '', TMPDIR: temporary }
  return new Promise((resolve) => {
    execFile(process.execPath, [...program, ...args], { cwd: folder, env }, (error, stdout) => {
      resolve({ code: error ? Number(error.code) : 0, lines: stdout.trim().split('\n') })
    })
  })
}
/** What the table says of a bug. */
const verdictOn = ({ lines }: ProgramResult, name: string) =>
  lines.find((line) => line.startsWith(`room/${name} `))?.replace(/^.*\d\.\d {2}/, '')

describe('npm run mutants', () => {
  test('a bug that a test finds is caught', async () => {
    const ended = await plant('caught')
    expect([ended.code, verdictOn(ended, 'caught')]).toEqual([0, 'yes'])
    expect(ended.lines.at(-1)).toBe('1 of 1 caught')
  })

  test.each([
    ['survives', 'it survived'],
    ['stale', 'the patch does not apply'],
  ])('fails for the bug %s: %s', async (name, why) => {
    const ended = await plant(name)
    expect([ended.code, verdictOn(ended, name)]).toEqual([1, `no: ${why}`])
  })

  test('a test that could not judge has caught nothing, and the next one is run all the same', async () => {
    const ended = await plant('broken', 'caught', 'gross')
    expect(verdictOn(ended, 'broken')).toMatch(/^no: no test was run/)
    expect(verdictOn(ended, 'caught')).toBe('yes')
    expect(verdictOn(ended, 'gross')).toBe('no: every test failed')
    expect([ended.code, ended.lines.at(-1)]).toEqual([1, '1 of 3 caught'])
  })

  test('a test that does not end has caught nothing', async () => {
    const ended = await plant('endless', '--seconds', '3')
    expect([ended.code, verdictOn(ended, 'endless')]).toEqual([1, 'no: longer than 3 s'])
  })

  test('a test that is red or absent without a bug fails it, and nothing is mutant', async () => {
    const { code, lines } = await plant('red', 'absent')
    expect(code).toBe(1)
    for (const name of ['red', 'absent']) {
      expect(lines).toContain(`test/${name}.test.js fails without a bug:`)
    }
    expect(lines.join('\n')).not.toContain('room/')
  })

  test('lists them, and runs nothing', async () => {
    const { code, lines } = await plant('--list', 'caught', 'survives')
    expect(code).toBe(0)
    expect(lines).toEqual([
      ...['room/caught', '  Something is broken.', `  ${edge}`],
      ...['room/survives', '  Something is broken.', '  test/blind.test.js'],
    ])
  })

  test('leaves the tree as it was, and no copy of it', () => {
    const status = execFileSync('git', ['status', '--short', '--untracked-files=all'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const names = status
      .trim()
      .split('\n')
      .map((line) => line.slice(3))
    expect(names.sort()).toEqual(Object.keys(files).sort())
    expect(execFileSync('cat', ['limit.js'], { cwd: folder, encoding: 'utf8' })).toBe(limit)
    expect(readdirSync(temporary).filter((name) => name.startsWith('steward-'))).toEqual([])
  })
})
