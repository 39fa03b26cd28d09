import path from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { isOneCall, renderFence, renderLanguages, type Fence } from './code.js'
import { toPath, type DocsPage } from './contents.js'
import { escapeHtml, toText } from './text.js'

export type Heading = { id: string; text: string; depth: number }
export type RenderedPage = { html: string; headings: Heading[] }

/** Files of `docs/` that the service has at paths of its own. */
const published: Record<string, string> = {
  'openapi.json': '/openapi.json',
  'steward.postman_collection.json': '/postman.json',
  'llms.txt': '/llms.txt',
}

/**
 * Renders a page. HTML in the Markdown is shown as text, apart from comments, which are dropped.
 *
 * @param files - Pages that the service has, by file. Links to other files of the repository become plain text.
 */
export function renderMarkdown(
  { file, markdown }: Pick<DocsPage, 'file' | 'markdown'>,
  files: ReadonlySet<string>,
): RenderedPage {
  const headings: Heading[] = []
  const ids = new Set<string>()
  const toTarget = (href: string) => resolveLink(file, href, files)
  const marked = new Marked({
    hooks: { processAllTokens: joinLanguages },
    extensions: [{ name: ONE_CALL, renderer: ({ fences }) => renderLanguages(fences as Fence[]) }],
    renderer: {
      code: (token) => renderFence(toFence(token)),
      heading({ tokens, depth }) {
        const content = this.parser.parseInline(tokens)
        const text = toText(content)
        const id = toFreeId(text, ids)
        headings.push({ id, text, depth })
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const target = toTarget(href)
        return target ? `<a href="${escapeHtml(target)}">${content}</a>` : content
      },
      image: ({ text }) => escapeHtml(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) =>
        escapeHtml(text.replace(/<!--[\s\S]*?-->\n*/g, '')),
    },
  })
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, headings }
}

/** Token of consecutive blocks with one call in several languages. */
const ONE_CALL = 'oneCall'

const isCode = (token: Token | undefined): token is Tokens.Code => token?.type === 'code'
const toFence = ({ lang = '', text }: Tokens.Code): Fence => ({ lang, text })

/** Joins consecutive blocks in different languages. Blank lines and comments may separate them. */
function joinLanguages(tokens: Token[]): Token[] {
  const joined: Token[] = []
  for (const token of tokens) {
    const isBetween = token.type === 'space' || /^<!--[^]*-->\s*$/.test(token.raw)
    const last = joined.at(-1)
    const before =
      last?.type === ONE_CALL ? (last.fences as Fence[]) : isCode(last) ? [toFence(last)] : []
    if (isBetween && before.length > 0) continue
    const fences = isCode(token) ? [...before, toFence(token)] : []
    if (fences.length > 1 && isOneCall(fences)) {
      joined.splice(-1, 1, { type: ONE_CALL, raw: '', fences } as Tokens.Generic)
    } else joined.push(token)
  }
  return joined
}

/** @returns Where the link leads from a rendered page; undefined when the service does not have the file. */
function resolveLink(from: string, href: string, files: ReadonlySet<string>): string | undefined {
  if (/^(https?:\/\/|#|\/)/.test(href)) return href
  const [target = '', fragment] = href.split('#')
  const file = path.posix.join(path.posix.dirname(from), target)
  const known = files.has(file) ? toPath({ file }) : published[path.posix.basename(file)]
  if (!known) return undefined
  return fragment === undefined ? known : `${known}#${fragment}`
}

/** The anchor of a heading as on GitHub, numbered when it is taken. The name of an error code stays in capitals. */
function toFreeId(text: string, taken: Set<string>): string {
  const id = toId(text)
  let free = id
  for (let count = 1; taken.has(free); count += 1) free = `${id}-${count}`
  taken.add(free)
  return free
}

function toId(text: string): string {
  if (/^[A-Z][A-Z0-9_]+$/.test(text)) return text
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}
