import { expect, test } from 'vitest'
import { insertTestIntent } from '../../../db/rows.js'
import { barriersInThemes } from '../axe.js'
import { makeWallet, ownFaults, type PageWorld } from '../pageWorld.js'
import { untilShown } from '../people.js'
import { insertTrendRows, insertYieldRows, overlapsOf } from './trendRows.js'

const TEST_MS = 120_000
const widths = [1280, 375]

export function testOverview(world: () => PageWorld): void {
  const openAt = async (path: string) => {
    const person = await world().newPerson()
    const wallet = await makeWallet(world(), person, 'alice')
    const visit = await world().open(person)
    const open = async () => {
      await visit.page.goto(`${world().host}/dashboard${path}`)
      await untilShown(visit.page)
    }
    return { ...visit, person, wallet, open }
  }

  test(
    'a new account sees its first calls, and that nothing needs attention',
    async () => {
      const { page, faults, open } = await openAt('/')
      await open()
      await page.getByRole('heading', { name: 'First call' }).waitFor()
      await page.getByText('Nothing needs attention.').waitFor()
      expect(await page.getByRole('heading', { name: 'Last 7 days' }).count()).toBe(0)
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'opens with figures of the range, which the user changes, and their values by keyboard',
    async () => {
      const { page, wallet, faults, open } = await openAt('/')
      await insertTrendRows(world().db, wallet)
      await open()
      await page.getByRole('heading', { name: 'Last 7 days' }).waitFor()
      const volume = page.getByRole('slider', { name: 'Volume' })
      const rate = page.getByRole('slider', { name: 'Success rate' })
      expect(await rate.getAttribute('aria-valuemax')).toBe('6')
      const last = await volume.getAttribute('aria-valuetext')
      expect(last).toMatch(/: \$\d+\.\d\d$/)
      await volume.focus()
      await page.keyboard.press('ArrowLeft')
      const shown = await volume.getAttribute('aria-valuetext')
      expect(shown).not.toBe(last)
      await page.getByText(shown ?? '-', { exact: true }).waitFor()
      await page.getByRole('button', { name: '24 h' }).click()
      await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor()
      await page.waitForURL('**/dashboard/?range=24h')
      expect(await volume.getAttribute('aria-valuemax')).toBe('23')
      // By pointer.
      const box = await rate.boundingBox()
      await page.mouse.move((box?.x ?? 0) + 1, (box?.y ?? 0) + 9)
      expect(await rate.getAttribute('aria-valuenow')).toBe('0')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'each line that needs attention leads to its page with the filter',
    async () => {
      const { page, person, wallet, faults, open } = await openAt('/')
      const failed = await insertTestIntent(world().db, wallet, 'failed')
      const created_at = new Date(Date.now() - 3_600_000)
      const late = await insertTestIntent(world().db, wallet, 'pending', { created_at })
      await insertTestIntent(world().db, wallet, 'completed')
      await world().db('account').where({ id: person.accountId }).update({ granted: 1 })
      const lines: [name: RegExp, path: RegExp, shown: string][] = [
        [/^1 failed intent can be retried/, /\/intents\?status=failed&from=\d{4}-/, failed],
        [/^1 intent takes unusually long/, /\/intents\?status=pending/, late],
        [/^1 credit is left/, /\/credits$/, ''],
      ]
      for (const [name, path, shown] of lines) {
        await open()
        await page.getByRole('link', { name }).click()
        await page.waitForURL(path)
        if (!shown) continue
        await page.getByRole('heading', { level: 1, name: 'Intents' }).waitFor()
        await page.locator(`[title=${shown}]`).waitFor()
        expect(await page.locator('a[data-row]').count()).toBe(1)
      }
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'with a failed read of the trends, the rest of the page is there',
    async () => {
      const { page, wallet, open } = await openAt('/')
      await insertTrendRows(world().db, wallet)
      await page.route('**/dashboard/api/trends*', (route) =>
        route.fulfill({ status: 409, json: { error: 'X', message: 'Not now.' } }),
      )
      await open()
      await page.getByRole('alert').getByText('Not now.').waitFor()
      await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
      await page.unroute('**/dashboard/api/trends*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('slider', { name: 'Gas cost' }).waitFor()
    },
    TEST_MS,
  )

  test(
    'a day of the usage is selected by keyboard and by pointer, and kept in the address',
    async () => {
      const { page, person, faults, open } = await openAt('/credits?range=7d')
      const row = { account_id: person.accountId, caller_id: 'key_1', endpoint: 'GET /v1/yields' }
      await world()
        .db('request_day')
        .insert({ ...row, day: new Date(), requests: 7, errors: 2, credits: 7 })
      await open()
      const chart = page.getByRole('slider', { name: 'Requests by day' })
      expect(await chart.getAttribute('aria-valuetext')).toMatch(/: Failed 2, Succeeded [56]$/)
      await chart.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/day=\d{4}-\d\d-\d\d/)
      await page.keyboard.press('Enter')
      await page.waitForURL(/range=7d$/)
      const box = await chart.boundingBox()
      await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 40)
      await page.waitForURL(/day=/)
      await page.getByRole('button', { name: '90 d' }).click()
      await page.waitForURL(/range=90d/)
      expect(await chart.getAttribute('aria-valuemax')).toBe('89')
      expect(ownFaults(faults)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'pages with charts: accessible in both themes, labels apart and nothing cut off',
    async () => {
      const { page, wallet, open } = await openAt('/')
      await insertTrendRows(world().db, wallet)
      await insertYieldRows(world().db)
      await open()
      const paths = ['/', '/?range=24h', '/?range=30d', '/credits?range=90d', '/credits?range=7d']
      const yields = ['/yields', '/yields?range=24h', '/yields?range=30d']
      const found: string[] = []
      for (const path of [...paths, ...yields]) {
        await page.goto(`${world().host}/dashboard${path}`)
        await page.getByRole('slider').last().locator('svg').waitFor()
        for (const width of widths) {
          await page.setViewportSize({ width, height: 820 })
          const faults = [...(await overlapsOf(page)), ...(await barriersInThemes(page))]
          found.push(...faults.map((fault) => `${path}, ${width} px: ${fault}`))
        }
      }
      expect(found).toEqual([])
    },
    TEST_MS,
  )
}
