import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { readCodeBlocks, type CodeBlock } from './codeBlocks.js'

/** Marks a code block that comes from a tested file: `<!-- sample: clients/examples/quickstart.ts#lend -->`. */
const MARK = /^<!-- sample: (\S+?)(?:#(\S+))? -->$/
const REGION = /^\s*(?:\/\/|#) ?#?(end)?region\b ?(\S*)/

const languages: Record<string, string> = { '.ts': 'ts', '.py': 'python', '.sh': 'sh' }

/** Paths of the pages that may contain samples, relative to the root. */
export async function findPages(root: string): Promise<string[]> {
  const files = await readdir(path.join(root, 'docs'), { recursive: true })
  const pages = files.filter((file) => file.endsWith('.md')).sort()
  return ['README.md', ...pages.map((file) => path.join('docs', file))]
}

/** Reads a file of the repository by its path relative to the root. */
type ReadSource = (file: string) => Promise<string>

/**
 * Renders a page with current samples: replaces or inserts the fenced block below each mark.
 *
 * @param page - Markdown.
 * @throws {Error} when a mark names a file or a region that does not exist.
 */
export async function renderSamples(page: string, readSource: ReadSource): Promise<string> {
  const lines = page.split('\n')
  const blocks = readCodeBlocks(page)
  const rendered: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const mark = MARK.exec(line)
    rendered.push(line)
    if (!mark) continue
    const [, file = '', region] = mark
    const code = extractRegion({ source: await readSource(file), file, region })
    rendered.push('', `\`\`\`${languages[path.extname(file)] ?? ''}`, code, '```')
    at = (blocks.find((block) => markOf(lines, block) === at)?.end ?? at + 1) - 1
  }
  return rendered.join('\n')
}

/** Index of the line above a block, without an empty line: where its mark is. */
const markOf = (lines: string[], { line }: CodeBlock) =>
  lines[line - 2] === '' ? line - 3 : line - 2

type SampleSource = { source: string; file: string; region: string | undefined }

/** The lines of a region, or of the whole file, without region marks and common indentation. */
function extractRegion({ source, file, region }: SampleSource): string {
  let inside = region === undefined
  const extracted: string[] = []
  for (const line of source.trimEnd().split('\n')) {
    const mark = REGION.exec(line)
    if (mark) inside = region === undefined || (mark[2] === region ? !mark[1] : inside)
    else if (inside) extracted.push(line)
  }
  if (extracted.length === 0) throw new Error(`${file} has no region ${region ?? ''}.`)
  const indents = extracted.filter(Boolean).map((line) => line.search(/\S/))
  const indent = Math.min(...indents)
  return extracted
    .map((line) => line.slice(indent))
    .join('\n')
    .trim()
}

/** First lines of TypeScript and Python blocks without a sample mark. Such blocks may become outdated unnoticed. */
export function unprovenBlocks(page: string): string[] {
  const lines = page.split('\n')
  return readCodeBlocks(page)
    .filter(({ language }) => language === 'ts' || language === 'python')
    .filter((block) => !MARK.test(lines[markOf(lines, block)] ?? ''))
    .map(({ code }) => code.split('\n')[0] ?? '')
}
