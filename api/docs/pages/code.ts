import { escapeHtml } from './text.js'

/** Languages of one call, in the order of their tabs. */
const tabs: Record<string, string> = { sh: 'curl', ts: 'TypeScript', python: 'Python' }
const labels: Record<string, string> = {
  ...tabs,
  ...{ sh: 'Shell', bash: 'Shell', json: 'JSON', js: 'JavaScript' },
  ...{ sql: 'SQL', http: 'HTTP', mermaid: 'Diagram in Mermaid', text: 'Text' },
}

/** A fenced block of a page. */
export type Fence = { lang: string; text: string }

/** Whether consecutive blocks show one call in several languages. */
export const isOneCall = (fences: readonly Fence[]): boolean =>
  fences.every(({ lang }) => lang in tabs) &&
  new Set(fences.map(({ lang }) => lang)).size === fences.length

/** The blocks of one call. A script of the page turns them into tabs; without it they follow each other. */
export function renderLanguages(fences: readonly Fence[]): string {
  const order = Object.keys(tabs)
  const sorted = [...fences].sort((a, b) => order.indexOf(a.lang) - order.indexOf(b.lang))
  return `<div class="languages">\n${sorted.map((fence) => renderFence(fence, tabs)).join('')}</div>\n`
}

/** A block with its language. It takes the focus, so that a keyboard can scroll it. */
export function renderFence({ lang, text }: Fence, names = labels): string {
  const label = names[lang] ?? lang
  return `<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0"><code class="language-${escapeHtml(lang)}">${toMarked(text, lang)}\n</code></pre></figure>\n`
}

/** Places of the reader's own values. `{url}` is the base URL, `{origin}` the same without `/v1`. */
const places: [place: RegExp, filled: string][] = [
  [/\$\(node -p "require\('\.\/\.steward\/dev\.json'\)\.apiBaseUrl"\)/, '{url}'],
  [/\$\(node -p "require\('\.\/\.steward\/dev\.json'\)\.apiKey"\)/, '{key}'],
  [/\$\{STEWARD_BASE_URL%\/v1\}/, '{origin}'],
  [/\$STEWARD_BASE_URL\b/, '{url}'],
  [/\$STEWARD_API_KEY\b/, '{key}'],
  [/https:\/\/steward\.example(?=\/)/, '{origin}'],
  [/http:\/\/127\.0\.0\.1:3000(?=\/)/, '{origin}'],
  [/svc_sk_…/, '{key}'],
  [/new Steward\(\)/, "new Steward({ baseUrl: '{url}', apiKey: '{key}' })"],
  [/(?<= = )Steward\(\)/, 'Steward(base_url="{url}", api_key="{key}")'],
]
const anyPlace = places.map(([place], at) => `(?<place${at}>${place.source})`).join('|')

const hash = /(?<=^|\s)#.*/m
const script = {
  comment: /\/\/.*|\/\*[\s\S]*?\*\//,
  text: /'[^'\n]*'|"[^"\n]*"|`[^`]*`/,
  word: /\b(?:import|from|export|const|let|new|async|await|function|return|try|catch|throw|if|else|for|of|instanceof|typeof|void)\b/,
}
const shell = {
  comment: hash,
  text: /'[^']*'|"(?:\\.|\$\([^)]*\)|[^"\\])*"/,
  word: /\b(?:export|until|do|done|if|then|fi)\b(?=\s|;|$)/,
}

/** Parts of a language that have a colour. Languages without an entry have one colour. */
const syntax: Record<string, Record<'comment' | 'text' | 'word', RegExp>> = {
  ...{ ts: script, js: script, sh: shell, bash: shell },
  json: { comment: /(?!)/, text: /"[^"\n]*"/, word: /\b(?:true|false|null)\b/ },
  python: {
    comment: hash,
    text: /"""[\s\S]*?"""|f?"[^"\n]*"/,
    word: /\b(?:import|from|def|async|await|with|as|return|try|except|raise|if|elif|else|for|in|not|and|or|is|None|True|False|lambda)\b/,
  },
}

/** Code as HTML: comments, texts, words of the language, and the places of the reader's own values. */
function toMarked(code: string, lang: string): string {
  const { comment, text, word } = syntax[lang] ?? {}
  if (!comment || !text || !word) return toFillable(code)
  const parts = `${anyPlace}|(?<comment>${comment.source})|(?<text>${text.source})|(?<word>${word.source})`
  return replaceParts(code, new RegExp(parts, 'gm'), (part, groups) => {
    if (filledOf(groups) !== undefined) return toPlace(part, groups)
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? []
    return `<span class="${kind}">${toFillable(part)}</span>`
  })
}

const toFillable = (code: string) => replaceParts(code, new RegExp(anyPlace, 'gm'), toPlace)

const toPlace: ToHtml = (part, groups) =>
  `<span data-filled="${escapeHtml(filledOf(groups) ?? '')}">${escapeHtml(part)}</span>`

const filledOf = (groups: Groups) =>
  places.find((_place, at) => groups[`place${at}`] !== undefined)?.[1]

type Groups = Record<string, string | undefined>
type ToHtml = (part: string, groups: Groups) => string

/** Escapes the text between the matches, and renders each match. */
function replaceParts(text: string, pattern: RegExp, toHtml: ToHtml): string {
  const rendered: string[] = []
  let at = 0
  for (const match of text.matchAll(pattern)) {
    rendered.push(escapeHtml(text.slice(at, match.index)), toHtml(match[0], match.groups ?? {}))
    at = match.index + match[0].length
  }
  return [...rendered, escapeHtml(text.slice(at))].join('')
}
