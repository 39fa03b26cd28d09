import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageFolder, runPython } from './environment.js'

type PytestCase = { folder: string; file: string; name: string }
/** The result of a test and its variants. Undefined when it did not run. */
type PytestReport = Map<string, string[]>

/** The tests below `clients/python/tests/<folder>`, read without Python. */
function findCases(folder: string): PytestCase[] {
  const place = path.join(packageFolder, 'tests', folder)
  const files = readdirSync(place).filter((file) => /^test_\w+\.py$/.test(file))
  return files.flatMap((file) => {
    const text = readFileSync(path.join(place, file), 'utf8')
    const names = [...text.matchAll(/^(?:async )?def (test_\w+)/gm)]
    return names.map(([, name = '']) => ({ folder, file, name }))
  })
}

/** Runs the tests at paths below `clients/python/tests` once. */
export async function runCases(
  python: string,
  paths: readonly string[],
  env: Record<string, string> = {},
): Promise<PytestReport> {
  const place = await mkdtemp(path.join(tmpdir(), 'steward-pytest-'))
  const file = path.join(place, 'report.xml')
  try {
    const places = paths.map((one) => `tests/${one}`)
    const args = ['-m', 'pytest', ...places, '--quiet', `--junit-xml=${file}`]
    const { output } = await runPython(python, args, env)
    const xml = await readFile(file, 'utf8').catch(() => '')
    if (!xml) throw new Error(`pytest wrote no report:\n${output}`)
    return readReport(xml)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** Defines one test per case. It checks the result of the case in the report. */
export function describeCases(folders: readonly string[], report: () => PytestReport): void {
  const cases = folders.flatMap(findCases)
  describe('pytest', () => {
    test.each(cases.map((one) => [toTitle(one), one] as const))('%s', (_title, { file, name }) => {
      const faults = report().get(`${file}:${name}`)
      expect(faults ?? ['The test did not run.']).toEqual([])
    })

    test('pytest ran these tests and no others', () => {
      const listed = cases.map(({ file, name }) => `${file}:${name}`)
      expect([...report().keys()].sort()).toEqual(listed.sort())
    })
  })
}

const toTitle = ({ file, name }: PytestCase) =>
  `${file.slice('test_'.length, -'.py'.length)}: ${name.slice('test_'.length).replaceAll('_', ' ')}`

/** Merges the variants of a test. A test without faults has passed. */
function readReport(xml: string): PytestReport {
  const report: PytestReport = new Map()
  for (const [, attributes = '', inner = ''] of xml.matchAll(
    /<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs,
  )) {
    const place = /classname="([^"]*)"/.exec(attributes)?.[1] ?? ''
    const name = / name="([^"]*)"/.exec(` ${attributes}`)?.[1] ?? ''
    const key = `${place.split('.').at(-1)}.py:${name.replace(/\[.*$/s, '')}`
    const faults = [...inner.matchAll(/<(failure|error|skipped)([^>]*)>(.*?)<\/\1>/gs)]
    const messages = faults.map(([, kind, , text]) => `${name}, ${kind}: ${decode(text ?? '')}`)
    report.set(key, [...(report.get(key) ?? []), ...messages])
  }
  return report
}

const decode = (text: string) =>
  text.replace(/&(lt|gt|quot|apos|amp|#10);/g, (_match, name: string) => entities[name] ?? '')
const entities: Record<string, string> = {
  ...{ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', '#10': '\n' },
}
