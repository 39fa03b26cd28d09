import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guides } from '../../../api/docs/guides.js'
import { startWorld, type World } from '../api.js'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const get = (file: string) => fetch(`${world.api.url}${file}`)

describe('the guides', () => {
  test.each(guides)('/docs/%s is the page as it is written, without a key', async (file) => {
    const response = await get(`/docs/${file}`)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(await readFile(path.join('docs', file), 'utf8'))
  })

  test('what one of them links to in docs/ is there as well', async () => {
    const served = guides.map(([file]) => file)
    for (const [file] of guides) {
      const page = await readFile(path.join('docs', file), 'utf8')
      const links = [...page.matchAll(/\]\(([^):#]+\.md)/g)].map(([, link = '']) =>
        path.join(path.dirname(file), link),
      )
      const inside = links.filter((link) => !link.startsWith('..'))
      expect(served).toEqual(expect.arrayContaining(inside))
    }
  })

  test('no other file of the folder is', async () => {
    for (const file of ['/docs/architecture.md', '/docs/guides', '/docs/..%2fpackage.json']) {
      expect((await get(file)).status).toBe(404)
    }
  })

  test('/llms.txt names them', async () => {
    const text = await (await get('/llms.txt')).text()
    for (const [file] of guides) expect(text).toContain(`](/docs/${file})`)
  })
})
