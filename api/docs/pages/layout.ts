import { toPath, type Chapter, type DocsPage } from './contents.js'
import { escapeHtml } from './text.js'
import { headerOf, htmlPage } from '../html.js'
import type { Heading, RenderedPage } from './markdown.js'

/** A page between the list of all pages and the sections of its own. */
export function layOut(
  page: DocsPage,
  { html, headings }: RenderedPage,
  contents: Chapter[],
): string {
  const sections = listSections(headings)
  const chapters = contents.map(({ title, pages }) => {
    const heading = title && `<h2>${escapeHtml(title)}</h2>`
    return `${heading}<ul>${pages.map((other) => toLine(other, page, sections)).join('')}</ul>`
  })
  return htmlPage(
    `${page.title} · Steward`,
    `${headerOf('/docs')}
<button class="menu" popovertarget="contents">All pages</button>
<div class="columns">
<nav id="contents" popover aria-label="Documentation">
${chapters.join('\n')}
</nav>
<main id="main" class="page">
${html}${listNeighbours(page, contents)}</main>
<aside>${sections && `<nav aria-label="On this page"><h2>On this page</h2>${sections}</nav>`}</aside>
</div>
<script src="/docs/code.js" type="module"></script>`,
  )
}

function toLine(page: DocsPage, current: DocsPage, sections: string): string {
  if (page.file !== current.file) return `<li>${toLink(page)}</li>`
  return `<li>${toLink(page, ' aria-current="page"')}${sections}</li>`
}

const toLink = (page: DocsPage, attributes = '') =>
  `<a href="${toPath(page)}"${attributes}>${escapeHtml(page.title)}</a>`

function listSections(headings: Heading[]): string {
  const own = headings.filter(({ depth }) => depth === 2)
  const lines = own.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return lines.length > 0 ? `<ul>${lines.join('')}</ul>` : ''
}

/** Links to the pages before and after, and to this one as Markdown. */
function listNeighbours(page: DocsPage, contents: Chapter[]): string {
  const pages = contents.flatMap((chapter) => chapter.pages)
  const at = pages.findIndex(({ file }) => file === page.file)
  const [previous, next] = [pages[at - 1], at === -1 ? undefined : pages[at + 1]]
  return `<footer>
<p>${previous ? `${toLink(previous, ' rel="prev"')}` : ''}${next ? `${toLink(next, ' rel="next"')}` : ''}</p>
<p><a href="/docs/${page.file}">This page as Markdown</a></p>
</footer>
`
}
