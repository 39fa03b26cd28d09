import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { marked, type Tokens } from 'marked'

/** A page of `docs/`. */
export type DocsPage = {
  /** Path of the file below `docs/`, e.g. `guides/errors.md`. */
  file: string
  title: string
  /** What the page covers, in a few words. Empty for the index itself. */
  about: string
  markdown: string
}
/** Pages under one heading of the index. */
export type Chapter = { title: string; pages: DocsPage[] }

/** Index of the documentation. Its chapters and links decide which pages are served, and in which order. */
const INDEX = 'README.md'
const COMMENT = /^<!--.*-->\n+/gm

/**
 * Reads the documentation.
 *
 * @param folder - Contains `README.md`. Without it the service has no pages.
 * @returns The index itself as a chapter without a title, then each chapter that the index lists.
 */
export function readContents(folder: string): Chapter[] {
  if (!existsSync(path.join(folder, INDEX))) return []
  const markdown = readPage(folder, INDEX)
  const tokens = marked.lexer(markdown)
  const title = tokens.find(isHeading)?.text ?? 'Documentation'
  const chapters: Chapter[] = [{ title: '', pages: [{ file: INDEX, title, about: '', markdown }] }]
  for (const token of tokens) {
    if (isHeading(token) && token.depth === 2) chapters.push({ title: token.text, pages: [] })
    if (isList(token)) {
      const pages = token.items.flatMap((item) => toPages(folder, item))
      chapters.at(-1)?.pages.push(...pages)
    }
  }
  return chapters
}

/** Path of the rendered page, e.g. `/docs/guides/errors`. The `README.md` of a folder is the folder's page. */
export const toPath = ({ file }: Pick<DocsPage, 'file'>) =>
  `/docs/${file}`.replace(/\.md$/, '').replace(/\/README$/, '')

const isHeading = (token: { type: string }): token is Tokens.Heading => token.type === 'heading'
const isList = (token: { type: string }): token is Tokens.List => token.type === 'list'

/** The page of a line such as `- [Errors](guides/errors.md): failed calls`. */
function toPages(folder: string, { text }: Tokens.ListItem): DocsPage[] {
  const [, title, file, about] = /^\[([^\]]+)\]\(([\w./-]+\.md)\)(?:: (.*))?/s.exec(text) ?? []
  if (!title || !file || !existsSync(path.join(folder, file))) return []
  return [{ file, title, about: about ?? '', markdown: readPage(folder, file) }]
}

/** Without comments, which are notes for tools. */
const readPage = (folder: string, file: string) =>
  readFileSync(path.join(folder, file), 'utf8').replace(COMMENT, '')
