import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** What a page shows of a file that a test runs: `<!-- sample: examples/quickstart.ts#lend -->`. */
const MARK = /^<!-- sample: (\S+?)(?:#(\S+))? -->$/
const REGION = /^\s*(?:\/\/|#) ?#?(end)?region\b ?(\S*)/

const languages: Record<string, string> = { '.ts': 'ts', '.py': 'python', '.sh': 'sh' }

/** The pages that may show samples, by their paths from the root. */
export async function findPages(root: string): Promise<string[]> {
  const files = await readdir(path.join(root, 'docs'), { recursive: true })
  const pages = files.filter((file) => file.endsWith('.md')).sort()
  return ['README.md', ...pages.map((file) => path.join('docs', file))]
}

/** Reads a file of the repository by its path from the root. */
type ReadSource = (file: string) => Promise<string>

/**
 * The page with each sample as its file has it now: the fenced block below a mark is written anew, or put there.
 *
 * @param page - Markdown.
 * @throws {Error} when a mark names a file or a region that does not exist.
 */
export async function renderSamples(page: string, readSource: ReadSource): Promise<string> {
  const lines = page.split('\n')
  const rendered: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const mark = MARK.exec(line)
    rendered.push(line)
    if (!mark) continue
    const [, file = '', region] = mark
    const code = takeRegion({ source: await readSource(file), file, region })
    rendered.push('', `\`\`\`${languages[path.extname(file)] ?? ''}`, code, '```')
    at = endOfBlock(lines, at)
  }
  return rendered.join('\n')
}

/** Where the fenced block ends that belongs to the mark; the mark itself where there is none yet. */
function endOfBlock(lines: string[], mark: number): number {
  const begin = lines[mark + 1] === '' ? mark + 2 : mark + 1
  if (!lines[begin]?.startsWith('```')) return mark
  const end = lines.indexOf('```', begin + 1)
  if (end === -1) throw new Error(`The block below line ${mark + 1} has no end.`)
  return end
}

type Wanted = { source: string; file: string; region: string | undefined }

/** The lines of a region, or of the whole file, without the marks of regions and without common indentation. */
function takeRegion({ source, file, region }: Wanted): string {
  let inside = region === undefined
  const taken: string[] = []
  for (const line of source.trimEnd().split('\n')) {
    const mark = REGION.exec(line)
    if (mark) inside = region === undefined || (mark[2] === region ? !mark[1] : inside)
    else if (inside) taken.push(line)
  }
  if (taken.length === 0) throw new Error(`${file} has no region ${region ?? ''}.`)
  const indents = taken.filter(Boolean).map((line) => line.search(/\S/))
  const indent = Math.min(...indents)
  return taken
    .map((line) => line.slice(indent))
    .join('\n')
    .trim()
}

/** Fenced blocks of code that no file stands behind: they may go stale unnoticed. */
export function unprovenBlocks(page: string): string[] {
  const lines = page.split('\n')
  const openings = lines.flatMap((line, at) => (/^```(ts|python)$/.test(line) ? [at] : []))
  return openings.filter((at) => !isBelowMark(lines, at)).map((at) => lines[at + 1] ?? '')
}

const isBelowMark = (lines: string[], at: number) =>
  MARK.test(lines[lines[at - 1] === '' ? at - 2 : at - 1] ?? '')
