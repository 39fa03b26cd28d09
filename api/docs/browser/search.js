// Finds sections with every word that was typed. Headings count most. `/` goes to the field, Escape leaves it, and
// the arrow keys move through the results.
const MOST = 12
const field = document.getElementById('search')
const results = document.getElementById('results')
const [status, list] = results.children
let sections

const wordsIn = (text) => text.toLowerCase().split(/\s+/).filter(Boolean)

function score({ page, heading, text }, words) {
  const parts = [
    [heading.toLowerCase(), 8],
    [page.toLowerCase(), 4],
    [text.toLowerCase(), 1],
  ]
  const points = words.map((word) =>
    parts.reduce((sum, [part, weight]) => (part.includes(word) ? sum + weight : sum), 0),
  )
  return points.includes(0) ? 0 : points.reduce((sum, one) => sum + one, 0)
}

/** The text around the first word, with every word marked. */
function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40)
  const shown = `${at > 0 ? '…' : ''}${text.slice(at, at + 140)}${text.length > at + 140 ? '…' : ''}`
  const small = element('small')
  const escaped = words.map((word) => word.replace(/[^\w\s]/g, '\\$&'))
  for (const part of shown.split(new RegExp(`(${escaped.join('|')})`, 'i'))) {
    small.append(words.includes(part.toLowerCase()) ? element('mark', part) : part)
  }
  return small
}

function element(name, ...children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

function toLine({ path, page, heading, text }, words) {
  const title = element('span', heading)
  const link = element('a', title, heading === page ? '' : element('i', page), excerpt(text, words))
  link.href = path
  return element('li', link)
}

async function readSections() {
  const response = await fetch('/docs/search.json')
  if (!response.ok) throw new Error(`The index returned ${response.status}.`)
  return response.json()
}

/** The next search reads the index again. */
function fail() {
  sections = undefined
  list.replaceChildren()
  status.textContent = 'The search failed. Check the connection and try again.'
}

async function search() {
  const words = wordsIn(field.value)
  results.hidden = words.length === 0
  if (results.hidden) return
  sections ??= readSections()
  const ranked = (await sections).map((section) => [score(section, words), section])
  if (field.value.toLowerCase().split(/\s+/).filter(Boolean).join() !== words.join()) return
  const found = ranked.filter(([points]) => points > 0).sort(([a], [b]) => b - a)
  const best = found.slice(0, MOST).map(([, section]) => section)
  list.replaceChildren(...best.map((section) => toLine(section, words)))
  status.textContent = sentence(found.length, words)
}

function sentence(count, words) {
  if (count === 0) return `Nothing found for “${words.join(' ')}”. Try fewer or shorter words.`
  if (count > MOST) return `The best ${MOST} of ${count} sections`
  return count === 1 ? '1 section' : `${count} sections`
}

function leave() {
  field.value = ''
  results.hidden = true
}

/** Moves the focus by one place between the field and the results. */
function move(step) {
  const stops = [field, ...list.querySelectorAll('a')]
  stops[stops.indexOf(document.activeElement) + step]?.focus()
}

const isTyping = () => document.activeElement?.matches('input, textarea, select')

field.addEventListener('input', () => search().catch(fail))
field.form.addEventListener('submit', (event) => {
  event.preventDefault()
  list.querySelector('a')?.click()
})
list.addEventListener('click', leave)
document.addEventListener('click', (event) => {
  if (!field.form.contains(event.target)) results.hidden = true
})
document.addEventListener('keydown', (event) => {
  const isInside = field.form.contains(document.activeElement)
  if (event.key === '/' && !isTyping()) {
    event.preventDefault()
    field.focus()
  } else if (event.key === 'Escape' && isInside) {
    leave()
    document.activeElement.blur()
  } else if (isInside && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    move(event.key === 'ArrowDown' ? 1 : -1)
  }
})
