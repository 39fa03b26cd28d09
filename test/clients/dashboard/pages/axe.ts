import { expect, test } from 'vitest'
import { barriersInThemes, findBarriers } from '../axe.js'
import type { PageWorld } from '../pageWorld.js'

const frame = (body: string) =>
  `<html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main></html>`
const rulesOf = (barriers: string[]) => barriers.map((barrier) => barrier.split(':')[0]).sort()

export function testAxe(world: () => PageWorld): void {
  test('reports an image without alternative text and low contrast, and accepts a plain page', async () => {
    const page = await world().browser.newPage()
    await page.setContent(frame('<p>Words</p>'))
    expect(await findBarriers(page)).toEqual([])
    await page.setContent(frame('<img src="data:,"><p style="color: #ddd">Pale</p>'))
    expect(rulesOf(await findBarriers(page))).toEqual(['color-contrast', 'image-alt'])
  })

  test('reports low contrast of the dark theme only', async () => {
    const page = await world().browser.newPage()
    const style = '@media (prefers-color-scheme: dark) { p { color: #ddd } }'
    await page.setContent(frame(`<style>${style}</style><p>Pale</p>`))
    expect(await barriersInThemes(page)).toEqual([
      expect.stringMatching(/^dark: color-contrast: <p>Pale/),
    ])
  })
}
