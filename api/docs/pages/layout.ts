import { toPath, type Chapter, type DocsPage } from './contents.js'
import { escapeHtml, type Heading, type RenderedPage } from './markdown.js'
import { htmlPage } from '../html.js'

/** A page with the list of all pages next to it, the sections of this one, and the search field. */
export function layOut(
  page: DocsPage,
  { html, headings }: RenderedPage,
  contents: Chapter[],
): string {
  const chapters = contents.map(({ title, pages }) => {
    const heading = title && `<h2>${escapeHtml(title)}</h2>`
    return `${heading}<ul>${pages.map((other) => toLine(other, page, headings)).join('')}</ul>`
  })
  return htmlPage(
    `${page.title} · Steward`,
    `<nav>
<form role="search"><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" /></form>
<ul id="results" hidden></ul>
<div id="contents">${chapters.join('\n')}
<ul><li><a href="/docs/api">Try the API</a></li><li><a href="/dashboard">Dashboard</a></li></ul></div>
</nav>
<main>
${html}</main>
<script src="/docs/search.js"></script>`,
  )
}

function toLine(page: DocsPage, current: DocsPage, headings: Heading[]): string {
  const isCurrent = page.file === current.file
  const link = `<a href="${toPath(page)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`
  const sections = isCurrent ? headings.filter(({ depth }) => depth === 2) : []
  const list = sections.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<li>${link}${list.length > 0 ? `<ul>${list.join('')}</ul>` : ''}</li>`
}
