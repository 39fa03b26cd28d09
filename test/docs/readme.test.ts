import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  readLinks,
  readPage,
  readParagraphs,
  readPaths,
  readProse,
  readRows,
  readSections,
  root,
} from './markdown.js'

const MOST_LINES = 250
const MOST_CHARACTERS = 600

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
const readme = readPage('README.md')

/** Exist only while the service runs, or after a build. */
const madeLater = ['.steward/', 'dist/', 'node_modules/.cache/steward/test-seconds.tsv']

describe('README.md', () => {
  test(`has at most ${MOST_LINES} lines`, () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
  })

  test('has its sections in the agreed order', () => {
    expect(readSections(readme)).toEqual([
      'Why Steward',
      'Quickstart',
      'First intent',
      'Features',
      'Clients',
      'How it works',
      'Guarantees',
      'What it does not do',
      'Repository map',
      'Where is …?',
      'Performance',
      'Production',
      'Contributing, security, licence',
    ])
  })

  test('compares in five rows, measures in five rows', () => {
    expect(readRows(readme, 'Why Steward')).toHaveLength(5)
    expect(readRows(readme, 'Performance')).toHaveLength(5)
  })

  test('names for each guarantee a test that exists', () => {
    for (const [guarantee = '', proof = ''] of readRows(readme, 'Guarantees')) {
      const [file = ''] = readPaths(proof)
      expect([guarantee, file, existsSync(join(root, file))]).toEqual([
        guarantee,
        expect.stringMatching(/^test\/.*\.test\.ts$/),
        true,
      ])
    }
  })

  const places = readRows(readme, 'Where is …?')
  test('answers nine questions', () => {
    expect(places).toHaveLength(9)
  })
  test.each(places)('%s: %s defines %s', (_question, file = '', name = '') => {
    const source = readFileSync(join(root, readPaths(file)[0] ?? ''), 'utf8')
    const defined = new RegExp(
      `^(?:create |export )?(?:async )?(?:const|function) ${name.replace(/`/g, '')}\\b`,
      'm',
    )
    expect(source).toMatch(defined)
  })

  test('maps the folders that exist at the top', () => {
    const [folders] = [readRows(readme, 'Repository map').flatMap(([cell = '']) => readPaths(cell))]
    for (const folder of folders)
      expect([folder, existsSync(join(root, folder))]).toEqual([folder, true])
  })
})

describe.each(pages)('%s', (name) => {
  const page = readPage(name)

  test('links to files that exist', () => {
    expect(readLinks(page).filter((link) => !existsSync(join(root, link)))).toEqual([])
  })

  test('names paths that exist', () => {
    // A row of the map names paths from the root, or below the folders of its first cell.
    const missing = readProse(page).flatMap((line) => {
      const bases = ['', ...readPaths(line.split('|')[1] ?? '')]
      return readPaths(line).filter(
        (path) => !bases.some((base) => existsSync(join(root, base, path))),
      )
    })
    expect(missing.filter((path) => !madeLater.includes(path))).toEqual([])
  })

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
    const named = [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  test(`has no paragraph above ${MOST_CHARACTERS} characters`, () => {
    expect(readParagraphs(page).filter(({ length }) => length > MOST_CHARACTERS)).toEqual([])
  })
})
