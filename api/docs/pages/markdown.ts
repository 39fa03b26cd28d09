import path from 'node:path'
import { Marked, type Tokens } from 'marked'
import { toPath, type DocsPage } from './contents.js'

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
    renderer: {
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
    .replaceAll('<table>', '<div class="wide"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, headings }
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

const characters: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => characters[sign] ?? sign)

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The text of rendered HTML. */
export const toText = (html: string) =>
  html
    .replace(/<a class="anchor".*?<\/a>/g, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&([a-z]+|#39);/g, (entity, name: string) => entities[name] ?? entity)
