import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findPages, renderSamples, unprovenBlocks } from '../../../dev/tools/sampleBlocks.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (file: string) => readFile(path.join(root, file), 'utf8')
const pages = await findPages(root)

const source = `import { x } from 'y'

// #region first
const one = x(1)
if (one) {
  // #region inner
  x(2)
  // #endregion inner
}
// #endregion first
export const two = 2
`
const render = (page: string) => renderSamples(page, () => Promise.resolve(source))
const block = (...lines: string[]) => ['', '```ts', ...lines, '```'].join('\n')

describe('renderSamples', () => {
  test('inserts the region below its mark, without indentation and inner marks', async () => {
    const first = '<!-- sample: a.ts#first -->'
    const inner = '<!-- sample: a.ts#inner -->'
    expect(await render(`${first}\n\ntext\n\n${inner}`)).toBe(
      `${first}\n${block('const one = x(1)', 'if (one) {', '  x(2)', '}')}\n\ntext\n\n${inner}\n${block('x(2)')}`,
    )
  })

  test('replaces an existing block, and nothing else', async () => {
    const mark = '<!-- sample: a.ts#inner -->'
    const stale = `before\n\n${mark}\n${block('x(0)', '', 'x(1)')}\n\nafter\n\n\`\`\`ts\nkept\n\`\`\`\n`
    const fresh = await render(stale)
    expect(fresh).toBe(`before\n\n${mark}\n${block('x(2)')}\n\nafter\n\n\`\`\`ts\nkept\n\`\`\`\n`)
    expect(await render(fresh)).toBe(fresh)
  })

  test('error: a missing region', async () => {
    await expect(render('<!-- sample: a.ts#third -->')).rejects.toThrow('a.ts has no region third.')
  })
})

describe('the pages', () => {
  test.each(pages)('%s shows its samples as their files have them', async (page) => {
    const stored = await read(page)
    expect(stored).toBe(await renderSamples(stored, read))
  })

  const guides = pages.filter((page) => /quickstart|guides/.test(page))
  test.each(guides)('%s shows no code that no test runs', async (page) => {
    expect(unprovenBlocks(await read(page))).toEqual([])
  })

  test.each(pages)('%s links to files that exist', async (page) => {
    const links = [...(await read(page)).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)]
    const missing = links
      .map(([, link = '']) => path.join(path.dirname(page), link))
      .filter((file) => !existsSync(path.join(root, file)))
    expect(missing).toEqual([])
  })
})
