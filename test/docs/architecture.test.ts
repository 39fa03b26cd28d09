import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const folders = ['docs/architecture', 'docs/decisions']
const pages = [
  'docs/performance.md',
  ...folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)),
]
const read = (file: string) => readFileSync(file, 'utf8')
const readme = read('docs/architecture/README.md')

/** Transitions of a state diagram, as `from -> to : event`. */
function transitionsOf(heading: string): string[] {
  const section = readme.split(`### ${heading}\n`)[1]?.split('\n#')[0] ?? ''
  const found = [...section.matchAll(/^ {2}(\S+) --> (\S+) : (.+)$/gm)]
  return found
    .flatMap(([, from, to, events = '']) =>
      events.split(', ').map((event) => `${from} -> ${to} : ${event}`),
    )
    .sort()
}

/** States of a state diagram. */
const statesOf = (heading: string): string[] => {
  const ends = transitionsOf(heading).flatMap((one) => one.replace(/ : .*/, '').split(' -> '))
  return [...new Set(ends)].filter((state) => state !== '[*]').sort()
}

/** States that the schema allows in a table. */
function statesIn(file: string, table: string): string[] {
  const body = read(file).split(`create table ${table} (`)[1] ?? ''
  const list = /check \(state in \(([^)]+)\)/.exec(body)?.[1] ?? ''
  return [...list.matchAll(/'(\w+)'/g)].map(([, state = '']) => state).sort()
}

describe('the diagrams of docs/architecture', () => {
  test('an intent has the transitions of intent_edge', () => {
    const rows = read('db/schema/006.do.status.sql').split('insert into intent_edge values')[1]
    const edges = [...(rows ?? '').matchAll(/\('(\w+)', '(\w+)', '(\w+)'\)/g)]
    expect(edges.length).toBeGreaterThan(0)
    const drawn = transitionsOf('Intent').filter((one) => !one.startsWith('[*]'))
    expect(drawn).toEqual(edges.map(([, event, from, to]) => `${from} -> ${to} : ${event}`).sort())
  })

  test.each([
    ['Operation', 'db/schema/008.do.operations.sql', 'operation'],
    ['Transaction', 'db/schema/007.do.chains.sql', 'chain_tx'],
  ])('%s has the states of its table', (heading, file, table) => {
    expect(statesIn(file, table).length).toBeGreaterThan(0)
    expect(statesOf(heading)).toEqual(statesIn(file, table))
  })
})

describe.each(pages)('%s', (file) => {
  const text = read(file)

  test('names files and folders that exist', () => {
    const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/|(?:[\w.-]+\/)+[\w.-]+\.[a-z]+)`/g)]
    const names = named.map(([, name = '']) => name).filter((name) => !name.startsWith('.steward/'))
    expect(names.filter((name) => !existsSync(name))).toEqual([])
  })

  test('links to pages and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
    const broken = links.filter(([, link = '', anchor]) => {
      const target = link === '' ? file : path.join(path.dirname(file), link)
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('has no paragraph above 600 characters', () => {
    const prose = text.replace(/^```[\s\S]*?^```/gm, '').split('\n')
    expect(prose.filter((line) => !line.startsWith('|') && line.length > 600)).toEqual([])
  })
})

test('docs/architecture/README.md has at most 300 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(300)
})

/** Anchors of a page's headings. */
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replace(/ /g, '-'),
  )
