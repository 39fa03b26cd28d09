import { readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Script } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readContents, toPath, type DocsPage } from '../../../api/docs/pages/contents.js'
import { renderMarkdown } from '../../../api/docs/pages/markdown.js'
import { toText } from '../../../api/docs/pages/text.js'
import { readCodeBlocks } from '../../../dev/tools/codeBlocks.js'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const contents = readContents('docs')
const pages = contents.flatMap((chapter) => chapter.pages).map((page) => ({ ...page }))
const get = (file: string) => fetch(`${world.api.url}${file}`)
const hrefsOf = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)

describe('the documentation', () => {
  test('every Markdown file of docs/ is listed in docs/README.md', async () => {
    const files = await readdir('docs', { recursive: true })
    const markdown = files.filter((file) => file.endsWith('.md'))
    expect(pages.map(({ file }) => file).sort()).toEqual(markdown.sort())
  })

  test.each(pages)(
    '$file is a page without a key, under a policy without exceptions',
    async (page) => {
      const response = await get(toPath(page))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      const html = await response.text()
      expect(html).not.toContain('<!--')
      expect(html).not.toContain('&lt;!--')
      expect(html).not.toMatch(
        /<(img|iframe|object|embed)|<script(?! src="\/docs\/)|<link[^>]*"https?:|style="/,
      )
    },
  )

  test.each(pages)('links of $file point to pages and headings of the service', async (page) => {
    const html = await (await get(toPath(page))).text()
    for (const href of hrefsOf(html).filter((link) => !/^https?:/.test(link))) {
      if (/^\/dashboard(\/|$)/.test(href)) continue
      const [target, id] = href.split('#')
      const response = target ? await get(target) : undefined
      expect(response?.status ?? 200, href).toBe(200)
      const text = response ? await response.text() : html
      if (id) expect(idsOf(text), href).toContain(id)
    }
  })

  test.each(pages)('/docs/$file is the page as Markdown, without comments', async ({ file }) => {
    const response = await get(`/docs/${file}`)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const stored = await readFile(path.join('docs', file), 'utf8')
    expect(await response.text()).toBe(stored.replace(/^<!--.*-->\n+/gm, ''))
  })

  test('each page lists all pages and the sections of its own', async () => {
    for (const page of pages) {
      const html = await (await get(toPath(page))).text()
      const [nav = ''] = /<nav id="contents"[\s\S]*?<\/nav>/.exec(html) ?? []
      expect(hrefsOf(nav)).toEqual(expect.arrayContaining(pages.map(toPath)))
      expect(nav.split('aria-current="page"')).toHaveLength(2)
      const [, aside = ''] = html.split('<aside>')
      expect(hrefsOf(nav)).toEqual(expect.arrayContaining(hrefsOf(aside)))
    }
  })

  test('each page links to the pages before and after it, and to its Markdown', async () => {
    for (const [at, page] of pages.entries()) {
      const html = await (await get(toPath(page))).text()
      const [footer = ''] = /<footer>[\s\S]*<\/footer>/.exec(html) ?? []
      const around = [pages[at - 1], pages[at + 1]].flatMap((other) =>
        other ? [toPath(other)] : [],
      )
      expect(hrefsOf(footer)).toEqual([...around, `/docs/${page.file}`])
    }
  })

  test('no other file is served', async () => {
    const files = [
      'demo.svg',
      'guides',
      'browser',
      'browser/search.js',
      '..%2fpackage.json',
      'gallery/overview-light.png',
      'llms.txt',
    ]
    for (const file of files) expect((await get(`/docs/${file}`)).status).toBe(404)
  })

  test('/llms.txt lists the pages as Markdown', async () => {
    const text = await (await get('/llms.txt')).text()
    for (const { file } of pages) expect(text).toContain(`](/docs/${file})`)
  })
})

describe('the search', () => {
  type Section = { path: string; page: string; heading: string; text: string }

  test('covers each section of each page', async () => {
    const sections = (await (await get('/docs/search.json')).json()) as Section[]
    for (const page of pages) {
      const html = await (await get(toPath(page))).text()
      const [, main = ''] = html.split('<main ')
      const [text = ''] = main.split('</main>')
      const own = sections.filter(({ path }) => path.startsWith(`${toPath(page)}#`))
      expect(own.map(({ path }) => path.split('#')[1])).toEqual(idsOf(text))
    }
    const notFound = sections.find(({ path }) => path.endsWith('#WALLET_NOT_FOUND'))
    expect(notFound).toMatchObject({ heading: 'WALLET_NOT_FOUND' })
    expect(notFound?.text).toContain('HTTP status: 404')
  })

  test('covers each operation, where it can be tried', async () => {
    const sections = (await (await get('/docs/search.json')).json()) as Section[]
    const document = (await (await get('/openapi.json')).json()) as { paths: object }
    const operations = Object.values(document.paths).flatMap((item: object) =>
      Object.keys(item).filter((key) => ['get', 'post'].includes(key)),
    )
    const own = sections.filter(({ path }) => path.startsWith('/docs/api#'))
    expect(own).toHaveLength(operations.length)
    expect(own).toContainEqual({
      path: '/docs/api#/Intents/cancelIntent',
      page: 'API',
      heading: 'POST /v1/intents/{intentId}/cancel',
      text: expect.stringContaining('Cancel an intent') as string,
    })
  })
})

describe('the scripts of the pages', () => {
  test.each(readdirSync('api/docs/browser').filter((name) => name.endsWith('.js')))(
    '%s is of this origin and writes text, never HTML',
    async (name) => {
      const response = await get(`/docs/${name}`)
      expect(response.headers.get('content-type')).toMatch(/^text\/javascript/)
      const script = await response.text()
      expect(script).not.toMatch(/innerHTML|insertAdjacentHTML|eval|https?:\/\//)
      expect(() => new Script(script)).not.toThrow()
    },
  )
})

describe('renderMarkdown', () => {
  const render = (markdown: string, file = 'guides/errors.md') => {
    const files = new Set([
      'README.md',
      'quickstart.md',
      'guides/errors.md',
      'architecture/README.md',
    ])
    return renderMarkdown({ file, markdown } satisfies Pick<DocsPage, 'file' | 'markdown'>, files)
  }

  test.each([
    ['../quickstart.md', '/docs/quickstart'],
    ['../quickstart.md#lend', '/docs/quickstart#lend'],
    ['../architecture/README.md', '/docs/architecture'],
    ['../README.md', '/docs'],
    ['../openapi.json', '/openapi.json'],
    ['#here', '#here'],
    ['https://example.com/a?b=1&c=2', 'https://example.com/a?b=1&amp;c=2'],
  ])('a link to %s points to %s', (href, target) => {
    expect(render(`[text](${href})`).html).toBe(`<p><a href="${target}">text</a></p>\n`)
  })

  test.each(['../../domain/errors.ts', '../missing.md', 'javascript:alert(1)', 'data:text/html,x'])(
    'a link to %s is text',
    (href) => {
      expect(render(`[text](${href})`).html).toBe('<p>text</p>\n')
    },
  )

  test('HTML is shown as text and comments are dropped', () => {
    const { html } = render(
      'a <b onclick="x">b</b>\n\n<script>alert(1)</script>\n\n<!-- note -->\n',
    )
    expect(html).toContain('&lt;script&gt;')
    expect(html).toContain('&lt;b onclick=&quot;x&quot;&gt;')
    expect(html).not.toMatch(/<b|<script|note/)
  })

  test('headings have the ids of GitHub, numbered when they repeat, and codes keep their capitals', () => {
    const { headings } = render("# What's `new`?\n\n## A - b\n\n## A - b\n\n### RATE_LIMITED\n")
    expect(headings).toEqual([
      { id: 'whats-new', text: "What's new?", depth: 1 },
      { id: 'a---b', text: 'A - b', depth: 2 },
      { id: 'a---b-1', text: 'A - b', depth: 2 },
      { id: 'RATE_LIMITED', text: 'RATE_LIMITED', depth: 3 },
    ])
  })

  const block = (label: string, code: string) =>
    `<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0">${code}</pre></figure>\n`

  test('a diagram is a block of code', () => {
    const { html } = render('```mermaid\nflowchart LR\n  a --> b\n```\n')
    const code = '<code class="language-mermaid">flowchart LR\n  a --&gt; b\n</code>'
    expect(html).toBe(block('Diagram in Mermaid', code))
  })

  test('consecutive blocks in different languages are one group, curl first', () => {
    const { html } = render(
      '```ts\na()\n```\n\n<!-- sample: a.py -->\n\n```python\na()\n```\n\n```sh\na\n```\n\n```sh\nb\n```\n\ntext\n',
    )
    const [group = '', rest] = html.split('</div>\n')
    expect([...group.matchAll(/<figcaption>(.*?)</g)].map(([, label]) => label)).toEqual([
      ...['curl', 'TypeScript', 'Python'],
    ])
    expect(group).toMatch(/^<div class="languages">/)
    expect(rest).toBe(`${block('Shell', '<code class="language-sh">b\n</code>')}<p>text</p>\n`)
  })

  test('blocks that text separates, and output, are no group', () => {
    for (const between of ['\ntext\n', '```json\n{}\n```']) {
      expect(render(`\`\`\`ts\na\n\`\`\`\n${between}\n\`\`\`sh\na\n\`\`\`\n`).html).not.toContain(
        '<div',
      )
    }
  })

  test('comments, texts and words of a language are marked, and everything is escaped', () => {
    const { html } = render("```ts\nconst a = '<b>' // don't & \"x\"\n```\n")
    expect(html).toBe(
      block(
        'TypeScript',
        '<code class="language-ts"><span class="word">const</span> a = <span class="text">\'&lt;b&gt;\'</span> <span class="comment">// don\'t &amp; &quot;x&quot;</span>\n</code>',
      ),
    )
  })

  test('marking leaves the code of every page as it is printed', () => {
    for (const page of pages) {
      const shown = [
        ...renderMarkdown(page, new Set()).html.matchAll(
          /<code class="[^"]+">([\s\S]*?)\n<\/code>/g,
        ),
      ]
      const printed = readCodeBlocks(page.markdown).map(({ code }) => code)
      expect(shown.map(([, html = '']) => toText(html)).sort()).toEqual(printed.sort())
    }
  })

  test('images are replaced by their description', () => {
    expect(render('![A diagram](https://example.com/x.png)').html).toBe('<p>A diagram</p>\n')
  })
})
