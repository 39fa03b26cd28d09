import { expect, test } from 'vitest'
import { findBarriers } from './axe.js'
import { hasBrowser, openBrowser } from './browser.js'

const testWithBrowser = hasBrowser ? test : test.skip

testWithBrowser(
  'a picture without words and a pale text are barriers, a plain page is none',
  async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const frame = (body: string) =>
        `<html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main></html>`
      await page.setContent(frame('<p>Words</p>'))
      expect(await findBarriers(page)).toEqual([])
      await page.setContent(frame('<img src="data:,"><p style="color: #ddd">Pale</p>'))
      const barriers = await findBarriers(page)
      expect(barriers.map((barrier) => barrier.split(':')[0]).sort()).toEqual([
        'color-contrast',
        'image-alt',
      ])
    } finally {
      await browser.close()
    }
  },
)
