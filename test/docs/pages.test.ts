import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Script } from 'node:vm'
import { expect, describe, test } from 'vitest'
import { renderMarkdown } from '../../api/docs/pages/markdown.js'
import { findPages } from '../../dev/tools/sampleBlocks.js'
import { run } from '../clients/examples/programs.js'
import { readCodeBlocks } from '../../dev/tools/codeBlocks.js'
import { readParagraphs, readProse } from './markdown.js'

const read = (file: string) => readFileSync(file, 'utf8')
const documentation = (await findPages('.'))
  .filter((file) => file.startsWith('docs/'))
  .map((file) => ({ file, text: read(file) }))
/** architecture.test.ts checks names, links and paragraphs of the other pages. */
const pages = documentation.filter(
  ({ file }) => !/^docs\/(architecture\/|decisions\/|performance)/.test(file),
)
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

const LONGEST_PARAGRAPH = 600

describe('paragraphs', () => {
  test.each(pages)('of $file have at most 600 characters', ({ text }) => {
    const long = readParagraphs(text).filter(({ length }) => length > LONGEST_PARAGRAPH)
    expect(long).toEqual([])
  })
})

describe('links', () => {
  const idsOf = (file: string) =>
    renderMarkdown({ file, markdown: read(file) }, new Set()).headings.map(({ id }) => id)

  test.each(pages)('of $file lead to files and headings that exist', ({ file, text }) => {
    const prose = readProse(text).join('\n')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
    for (const href of links.filter((link) => !/^(https?:|mailto:|\/)/.test(link))) {
      const [target = '', id] = href.split('#')
      const found = target ? path.join(path.dirname(file), target) : file
      expect(existsSync(found), `${href} in ${file}`).toBe(true)
      if (id && found.endsWith('.md')) expect(idsOf(found), `${href} in ${file}`).toContain(id)
    }
  })
})

describe('names', () => {
  const inlineCode = (text: string) =>
    [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

  test.each(pages)('of files in $file exist', ({ text }) => {
    const files = inlineCode(text).filter((code) =>
      /^(?!dist\/|\.steward\/)[\w.-]+\/[\w./-]+\.(ts|tsx|py|sql|sh|md)$/.test(code),
    )
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  test.each(pages)('of npm scripts in $file exist', ({ text }) => {
    const used = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(used.filter((name) => !(name in scripts) && name !== 'build')).toEqual([])
  })

  test('of log messages in docs/running/runbook.md exist', () => {
    const section = read('docs/running/runbook.md').split('## Alarms on log messages')[1] ?? ''
    const messages = [...section.matchAll(/^\| `([^`]+)` +\| (?:signer|relayer|worker|each) /gm)]
    const sources = ['signer', 'relayer', 'operations', 'worker']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
          path.join(folder, name),
        ),
      )
      .filter((file) => file.endsWith('.ts'))
      .map(read)
    expect(messages.length).toBeGreaterThan(10)
    for (const [, message = ''] of messages) {
      expect(
        sources.some((source) => source.includes(`'${message}'`)),
        message,
      ).toBe(true)
    }
  })
})

describe('code blocks', () => {
  const blocks = documentation.flatMap(({ file, text }) =>
    readCodeBlocks(text).map((block) => ({ ...block, file })),
  )
  const ofLanguage = (...languages: string[]) =>
    blocks.filter(({ language }) => languages.includes(language))

  /**
   * How each language is checked: shell.test.ts runs `sh`, `ts` and `python` are samples of files that tests
   * run (samples.test.ts). `text`, `http` and `console` show output.
   */
  const checked = ['sh', 'bash', 'json', 'js', 'mermaid', 'ts', 'python', 'text', 'http', 'sql']

  test('name a language that is checked', () => {
    const others = blocks.filter(({ language }) => !checked.includes(language))
    expect(others.map(({ file, line }) => `${file}:${line}`)).toEqual([])
  })

  test.each(ofLanguage('json'))('$file:$line is JSON', ({ code }) => {
    expect(() => JSON.parse(code) as unknown).not.toThrow()
  })

  test.each(ofLanguage('js'))('$file:$line is JavaScript', ({ code }) => {
    const asScript = code.replace(/^import .*$/gm, '')
    expect(() => new Script(`(async () => {${asScript}})`)).not.toThrow()
  })

  test.each(ofLanguage('mermaid'))('$file:$line is a diagram', ({ code }) => {
    expect(code).toMatch(/^(flowchart|graph|sequenceDiagram|stateDiagram-v2|erDiagram) ?/)
  })

  test.each(ofLanguage('sh', 'bash'))('$file:$line is a shell script', async ({ code }) => {
    // `<build id>` stands for a value.
    await run('bash', { args: ['-n', '-c', code.replace(/<[\w ]+>/g, 'value')], env: {} })
  })

  /** Needs Docker, a public network, a package index or an installed program, or does not return. */
  test.each(ofLanguage('bash'))('$file:$line calls what exists', ({ code }) => {
    expect(missingIn(code)).toEqual([])
  })
})

const programs = ['bash', 'claude', 'curl', 'docker', 'export', 'node', 'npm', 'npx', 'python3']
const others = ['set', '.', 'temporal', 'git']

/** What commands name and the repository does not have. */
function missingIn(code: string): string[] {
  const lines = code.replace(/\\\n\s*/g, '').split('\n')
  const commands = lines
    .filter((line) => line && !line.startsWith('#'))
    .flatMap((line) => line.split(/&&|;/))
    .map((command) => command.trim().replace(/^(\w+=(\$\(.*\)|\S*)\s*)+/, ''))
    .filter(Boolean)
  return commands.flatMap((command) => {
    const [name = ''] = command.split(' ')
    const known = [...programs, ...others].includes(name) || existsSync(name)
    const [, script] = /^npm run ([\w:-]+)/.exec(command) ?? []
    const [, service] =
      /^docker compose (?:run|exec)(?: -\S+(?: \w+_\w+)?| --rm)* ([a-z]\S*)/.exec(command) ?? []
    const entries = [...command.matchAll(/(?:dist\/)([\w/]+)\.js/g)].map(([, file]) => `${file}.ts`)
    return [
      ...(known ? [] : [name]),
      ...(script && !(script in scripts) ? [script] : []),
      ...(service && !read('docker-compose.yml').includes(`\n  ${service}:\n`) ? [service] : []),
      ...entries.filter((file) => !existsSync(file)),
    ]
  })
}
