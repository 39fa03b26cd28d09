import { insertTestIntent, type TestWallet } from '../../../db/rows.js'
import type { Page } from 'playwright-core'
import type { Db } from '../../../../db/client/connect.js'

/** Intents of the last 60 days, one each hour: completed, and every ninth failed. */
export async function insertTrendRows(db: Db, wallet: TestWallet): Promise<void> {
  const id = await insertTestIntent(db, wallet, 'completed')
  await db.raw(
    `insert into intent (id, account_id, wallet_id, action, asset, units, status, plan, error, request_id,
       created_at, completed_at, ended_at)
     select 'intent_0' || lpad(n::text || substr(:id::text, 20), 25, '0'), account_id, wallet_id, action, asset,
       (20 + 15 * sin(n / 9.0) + n % 7)::int * 1000000, case when n % 9 = 0 then 'failed' else 'completed' end,
       plan, case when n % 9 = 0 then '{"code":"DEPOSIT_FAILED","message":"test"}'::json end, request_id,
       at - (4 + 3 * sin(n / 5.0)) * interval '1 second', case when n % 9 > 0 then at end, at
     from intent cross join generate_series(1, 1440) n
       cross join lateral (select now() - n * interval '1 hour' as at) as t
     where id = :id`,
    { id },
  )
}

/** Rates of three markets in the last 29 days, one each hour, with a gap. */
export async function insertYieldRows(db: Db): Promise<void> {
  await db.raw(
    `insert into yield_snapshot (chain, protocol, asset, market, apy_percent, taken_at)
     select chain, 'aave-v3', 'USDC', '0x' || place, 3 + place + 0.6 * sin(h / 7.0), now() - h * interval '1 hour'
     from unnest(array['base-sepolia', 'arbitrum-sepolia', 'ethereum-sepolia']) with ordinality as c (chain, place)
       cross join generate_series(0, 700) h
     where h not between 40 and 50`,
  )
}

/** Overlapping labels of the charts of a page, labels outside of their chart, and a page that is wider than the screen. */
export const overlapsOf = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(async () => {
    // The charts follow the width of the page after a frame.
    for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame)
    const found = []
    for (const chart of document.querySelectorAll('[role=slider] svg')) {
      const frame = chart.getBoundingClientRect()
      const labels = [...chart.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()])
      for (const [text, box] of labels) {
        if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push('cut: ' + text)
        for (const [other, next] of labels) {
          const isApart = box.right + 4 <= next.left || next.right + 4 <= box.left || box.bottom <= next.top + 2 || next.bottom <= box.top + 2
          if (text < other && !isApart) found.push(text + ' over ' + other)
        }
      }
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push('wider than the screen')
    return found
  })()`)
