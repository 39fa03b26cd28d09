import { Router } from 'express'
import { layOut } from './layout.js'
import { renderMarkdown } from './markdown.js'
import { toSections, type Section } from './search.js'
import { toPath, type Chapter, type DocsPage } from './contents.js'
import { sendText } from '../send.js'

/** Everything on a page is a file of this origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * The documentation: each page as HTML at `/docs/<page>`, for language models as Markdown at `/docs/<page>.md`, and
 * what the pages load.
 *
 * @param aliases - Further paths of pages, which no change of the folder moves.
 * @param others - What the search finds besides the pages.
 */
export function pageRoutes(
  contents: Chapter[],
  aliases: Record<string, DocsPage>,
  others: Section[],
): Router {
  const router = Router()
  const pages = contents.flatMap((chapter) => chapter.pages)
  const files = new Set(pages.map(({ file }) => file))
  const render = (page: DocsPage) => renderMarkdown(page, files)
  const toHtml = (page: DocsPage) => layOut(page, render(page), contents)
  const toIndex = () =>
    JSON.stringify([...pages.flatMap((page) => toSections(page, render(page))), ...others])

  for (const [path, page] of [...Object.entries(aliases), ...pages.map(withPath)]) {
    router.get(
      path,
      sendText('html', () => toHtml(page), POLICY),
    )
  }
  for (const { file, markdown } of pages) {
    router.get(
      `/docs/${file}`,
      sendText('text/plain; charset=utf-8', () => markdown),
    )
  }
  router.get('/docs/search.json', sendText('json', toIndex))
  return router
}

const withPath = (page: DocsPage): [path: string, page: DocsPage] => [toPath(page), page]
