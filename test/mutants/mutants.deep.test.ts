import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = ['--import', 'tsx', join(root, 'test/mutants/main.ts')]

const limit = 'export const limit = 3\nexport const isWithin = (count) => count <= limit\n'
/** A patch that changes the second line. */
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
const patches = 'test/mutants/edge'

/** A tree with two tests, one of which checks the edge, and a mutant for each outcome. */
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
  [`${patches}/caught.patch`]: patch(edge, 'export const isWithin = (count) => count < limit'),
  [`${patches}/survives.patch`]: patch(
    ...['test/blind.test.js', 'export const isWithin = (count) => count < limit'],
  ),
  [`${patches}/stale.patch`]: patch(edge, '// nothing', 'export const limit = 4'),
  [`${patches}/broken.patch`]: patch(edge, 'export const isWithin = ('),
  [`${patches}/gross.patch`]: patch(edge, 'export const isWithin = () => { throw new Error() }'),
  [`${patches}/endless.patch`]: patch(edge, 'export const isWithin = () => { for (;;); }'),
  [`${patches}/red.patch`]: patch('test/red.test.js', '// nothing'),
  [`${patches}/absent.patch`]: patch('test/absent.test.js', '// nothing'),
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

function runProgram(...args: string[]): Promise<ProgramResult> {
  const env = { ...process.env, NODE_OPTIONS: '', TMPDIR: temporary }
  return new Promise((resolve) => {
    execFile(process.execPath, [...program, ...args], { cwd: folder, env }, (error, stdout) => {
      resolve({ code: error ? Number(error.code) : 0, lines: stdout.trim().split('\n') })
    })
  })
}
/** The table's outcome of a mutant. */
const verdictOn = ({ lines }: ProgramResult, name: string) =>
  lines.find((line) => line.startsWith(`edge/${name} `))?.replace(/^.*\d\.\d {2}/, '')

describe('npm run mutants', () => {
  test('a mutant that a test detects is caught', async () => {
    const ended = await runProgram('caught')
    expect([ended.code, verdictOn(ended, 'caught')]).toEqual([0, 'yes'])
    expect(ended.lines.at(-1)).toBe('1 of 1 caught')
  })

  test.each([
    ['survives', 'it survived'],
    ['stale', 'the patch does not apply'],
  ])('fails for the mutant %s: %s', async (name, why) => {
    const ended = await runProgram(name)
    expect([ended.code, verdictOn(ended, name)]).toEqual([1, `no: ${why}`])
  })

  test('a test that could not run catches no mutant, and the next mutant still runs', async () => {
    const ended = await runProgram('broken', 'caught', 'gross')
    expect(verdictOn(ended, 'broken')).toMatch(/^no: no test was run/)
    expect(verdictOn(ended, 'caught')).toBe('yes')
    expect(verdictOn(ended, 'gross')).toBe('no: every test failed')
    expect([ended.code, ended.lines.at(-1)]).toEqual([1, '1 of 3 caught'])
  })

  test('a test that does not end catches no mutant', async () => {
    const ended = await runProgram('endless', '--seconds', '3')
    expect([ended.code, verdictOn(ended, 'endless')]).toEqual([1, 'no: longer than 3 s'])
  })

  test('a test that fails or is missing without a mutant fails the run, and no mutant is applied', async () => {
    const { code, lines } = await runProgram('red', 'absent')
    expect(code).toBe(1)
    for (const name of ['red', 'absent']) {
      expect(lines).toContain(`test/${name}.test.js fails without a mutant:`)
    }
    expect(lines.join('\n')).not.toContain('edge/')
  })

  test('lists the mutants and runs none', async () => {
    const { code, lines } = await runProgram('--list', 'caught', 'survives')
    expect(code).toBe(0)
    expect(lines).toEqual([
      ...['edge/caught', '  Something is broken.', `  ${edge}`],
      ...['edge/survives', '  Something is broken.', '  test/blind.test.js'],
    ])
  })

  test('leaves the tree unchanged, and no copy of it', () => {
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
