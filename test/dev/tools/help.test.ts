import { readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url)
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  scripts: Record<string, string>
}
/** Scripts that npm runs before another one, or that only `check` calls. */
const isInner = (name: string) =>
  name === 'check:others' || (name.startsWith('pre') && name.slice('pre'.length) in scripts)

describe('npm run help', () => {
  test('lists every script once, with its purpose, and no others', () => {
    const script = fileURLToPath(new URL('dev/tools/help.mjs', root))
    expect(scripts.help).toBe('node dev/tools/help.mjs')
    const lines = execFileSync(process.execPath, [script], { encoding: 'utf8' }).split('\n')
    const listed = lines.flatMap((line) => /^ {2}npm run (\S+) {2,}[a-z]/.exec(line)?.[1] ?? [])
    const known = Object.keys(scripts).filter((name) => name !== 'help' && !isInner(name))
    expect([...listed].sort()).toEqual(known.sort())
  })

  test('below `check` stand the scripts that it runs, and no others', () => {
    const script = fileURLToPath(new URL('dev/tools/help.mjs', root))
    const output = execFileSync(process.execPath, [script], { encoding: 'utf8' })
    const [below = ''] = output.split(/npm run check .*\n/)[1]?.split('\n\n') ?? []
    const listed = [...below.matchAll(/npm run (\S+)/g)].map(([, name]) => name)
    const run = `${scripts.check} ${scripts['check:others']}`.matchAll(/npm run (\S+)/g)
    const checks = [...run].map(([, name]) => name).filter((name) => name !== 'check:others')
    expect(listed.sort()).toEqual(checks.sort())
  })
})
