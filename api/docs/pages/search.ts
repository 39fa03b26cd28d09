import { toPath, type DocsPage } from './contents.js'
import { toText, type RenderedPage } from './markdown.js'

/** A part of a page below one heading. */
type Section = { path: string; page: string; heading: string; text: string }

/** What the search of a browser goes through: every section of a page. */
export function toSections(page: DocsPage, { html, headings }: RenderedPage): Section[] {
  const parts = html.split(/(?=<h[1-6] id=")/).filter((part) => part.startsWith('<h'))
  return parts.map((part, at) => {
    const { id = '', text = '' } = headings[at] ?? {}
    const body = part.replace(/^<h.*?<\/h\d>/, '')
    const content = toText(body.replace(/<\/(td|th|li|p)>/g, '$& '))
    return {
      path: `${toPath(page)}#${id}`,
      page: page.title,
      heading: text,
      text: content.replace(/\s+/g, ' ').trim(),
    }
  })
}

/** Finds sections with every word that was typed. Headings count most. `/` goes to the field, Escape leaves it. */
export const SEARCH_SCRIPT = `const field = document.getElementById('search')
const results = document.getElementById('results')
const contents = document.getElementById('contents')
const MOST = 12
let sections

const score = ({ page, heading, text }, words) => {
  const parts = [[heading, 8], [page, 4], [text, 1]].map(([part, weight]) => [part.toLowerCase(), weight])
  let sum = 0
  for (const word of words) {
    const found = parts.reduce((most, [part, weight]) => (part.includes(word) ? most + weight : most), 0)
    if (found === 0) return 0
    sum += found
  }
  return sum
}

const excerpt = (text, word) => {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  return (at > 0 ? '…' : '') + text.slice(at, at + 140) + (text.length > at + 140 ? '…' : '')
}

const element = (name, text, children = []) => {
  const made = document.createElement(name)
  made.textContent = text
  made.append(...children)
  return made
}

const show = (found, words) => {
  const lines = found.map(({ path, page, heading, text }) => {
    const link = element('a', heading === page ? page : page + ' › ' + heading)
    link.href = path
    return element('li', '', [link, element('small', excerpt(text, words[0]))])
  })
  results.replaceChildren(...(lines.length > 0 ? lines : [element('li', 'Nothing found.')]))
}

const search = async () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
  contents.hidden = words.length > 0
  results.hidden = words.length === 0
  if (words.length === 0) return
  sections ??= fetch('/docs/search.json').then((response) => response.json())
  const ranked = (await sections).map((section) => [score(section, words), section])
  const found = ranked.filter(([points]) => points > 0).sort(([a], [b]) => b - a)
  show(found.slice(0, MOST).map(([, section]) => section), words)
}

field.addEventListener('input', search)
field.form.addEventListener('submit', (event) => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault()
    field.focus()
  } else if (event.key === 'Escape' && document.activeElement === field) {
    field.value = ''
    search()
    field.blur()
  }
})
`
