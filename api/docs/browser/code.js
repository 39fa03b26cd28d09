// Blocks of code: a button that copies, and tabs for one call in several languages. The choice holds on every page.
const CHOICE = 'docs-language'

function readChoice() {
  try {
    return localStorage.getItem(CHOICE)
  } catch {
    return null
  }
}

function storeChoice(language) {
  try {
    localStorage.setItem(CHOICE, language)
  } catch {
    // Storage may be disabled. The choice then holds on this page only.
  }
}

const labelOf = (figure) => figure.querySelector('figcaption').textContent

function addCopy(figure) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent.trimEnd())
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2_000)
  })
  figure.append(button)
}

/** @returns A function that shows the block of a language, if the group has it. */
function addTabs(group, at) {
  const figures = [...group.children]
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = figures.map((figure, index) => {
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.id = `tab-${at}-${index}`
    tab.textContent = labelOf(figure)
    tab.setAttribute('role', 'tab')
    figure.setAttribute('role', 'tabpanel')
    figure.setAttribute('aria-labelledby', tab.id)
    figure.id = `panel-${at}-${index}`
    tab.setAttribute('aria-controls', figure.id)
    return tab
  })
  list.append(...tabs)
  group.prepend(list)

  const show = (language) => {
    const chosen = tabs.findIndex((tab) => tab.textContent === language)
    if (chosen === -1) return
    tabs.forEach((tab, index) => {
      tab.setAttribute('aria-selected', String(index === chosen))
      tab.tabIndex = index === chosen ? 0 : -1
      figures[index].hidden = index !== chosen
    })
  }
  const choose = (tab) => {
    const { top } = group.getBoundingClientRect()
    storeChoice(tab.textContent)
    showAll(tab.textContent)
    // Groups above may have become longer or shorter.
    scrollBy(0, group.getBoundingClientRect().top - top)
  }
  list.addEventListener('click', ({ target }) => {
    if (tabs.includes(target)) choose(target)
  })
  list.addEventListener('keydown', (event) => {
    const next = neighbourOf(tabs, event)
    if (!next) return
    event.preventDefault()
    next.focus()
    choose(next)
  })
  show(tabs[0].textContent)
  return show
}

/** The tab that a key leads to. */
function neighbourOf(tabs, { key, target }) {
  const at = tabs.indexOf(target)
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[key]
  return to === undefined ? undefined : tabs.at(to % tabs.length)
}

const groups = [...document.querySelectorAll('.languages')].map(addTabs)
const showAll = (language) => groups.forEach((show) => show(language))
const choice = readChoice()
if (choice) showAll(choice)

// A browser has a clipboard on pages over https and on the same machine.
if (navigator.clipboard) document.querySelectorAll('figure.code').forEach(addCopy)
