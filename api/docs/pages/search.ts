import { toPath, type DocsPage } from './contents.js'
import { toText } from './text.js'
import type { RenderedPage } from './markdown.js'
import type { DocumentedOperation } from '../operations.js'

/** A part of a page below one heading. */
export type Section = { path: string; page: string; heading: string; text: string }

/** What the search of a browser goes through: every section of a page. */
export function toSections(page: DocsPage, { html, headings }: RenderedPage): Section[] {
  const parts = html.split(/(?=<h[1-6] id=")/).filter((part) => part.startsWith('<h'))
  return parts.map((part, at) => {
    const { id = '', text = '' } = headings[at] ?? {}
    const body = part.replace(/^<h.*?<\/h\d>|<figcaption>.*?<\/figcaption>/g, '')
    const content = toText(body.replace(/<\/(td|th|li|p)>/g, '$& '))
    return {
      path: `${toPath(page)}#${id}`,
      page: page.title,
      heading: text,
      text: content.replace(/\s+/g, ' ').trim(),
    }
  })
}

/** An operation, on the page where it can be tried. */
export function toSection({ method, path, isVersioned, described }: DocumentedOperation): Section {
  const { operationId, summary, description, tags } = described
  return {
    path: `/docs/api#/${tags[0]}/${operationId}`,
    page: 'API',
    heading: `${method.toUpperCase()} ${isVersioned ? '/v1' : ''}${path}`,
    text: `${summary}. ${description}`.replace(/[`*]/g, '').replace(/\s+/g, ' '),
  }
}
