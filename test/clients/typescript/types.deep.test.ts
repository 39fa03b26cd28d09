import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

/** The compiler compares the handwritten types with the published document, field by field. */
const documentFile = new URL('../../../docs/openapi.json', import.meta.url)
const compareFile = fileURLToPath(new URL('./compare.txt', import.meta.url))
const sdkFile = fileURLToPath(new URL('../../../clients/typescript/src/index.ts', import.meta.url))

/** Changes of the document that the comparison must detect. */
const changes: [name: string, pattern: RegExp, changed: string][] = [
  ['a field', /^( +)totalValueUsd: number;/m, '$1totalValueEur: number;'],
  ['whether a field is there', /^( +)totalValueUsd: number;/m, '$1totalValueUsd?: number;'],
  ['a type', /^( +)balanceFormatted: string;/m, '$1balanceFormatted: number;'],
  ['a name in a list', /"ATTESTATION"/, '"ATTESTED"'],
  ['a field of a request', /^( +)horizonDays\?: number;/m, ''],
]

// The compiler is slow on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let folder: string
/** The diagnostics of each comparison, from one program, so that the libraries are parsed once. */
let complaints: (name: string) => string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-types-'))
  const generated = astToString(await openapiTS(documentFile))
  const files = [await writeComparison('nothing', generated)]
  for (const [name, pattern, changed] of changes) {
    expect(generated).toMatch(pattern)
    files.push(await writeComparison(name, generated.replace(pattern, changed)))
  }
  const program = ts.createProgram(files, {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    ...{ types: [], lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 },
    paths: { '@steward/sdk': [sdkFile] },
  })
  const found = ts.getPreEmitDiagnostics(program)
  complaints = (name) =>
    found
      .filter(({ file }) => !file || !file.fileName.startsWith(folder) || isOf(name, file.fileName))
      .map(toText)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const isOf = (name: string, file: string) => file.startsWith(join(folder, name, '/'))

async function writeComparison(name: string, api: string): Promise<string> {
  const file = join(folder, name, 'compare.ts')
  await mkdir(join(folder, name))
  await writeFile(join(folder, name, 'api.ts'), api)
  await copyFile(compareFile, file)
  return file
}

/** The compared line and its error. */
function toText({ file, start = 0, messageText }: ts.Diagnostic): string {
  const line = file?.text.slice(0, start).split('\n').length ?? 0
  const source = file?.text.split('\n')[line - 1]?.trim() ?? ''
  return `${source} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
}

describe('types of @steward/sdk', () => {
  test('match docs/openapi.json', () => {
    expect(complaints('nothing')).toEqual([])
  })

  test.each(changes)('error: differ from a document that changes %s', (name) => {
    expect(complaints(name)).not.toEqual([])
  })
})
