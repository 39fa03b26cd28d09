import { describe, expect, test } from 'vitest'
import { prepareTogether } from '../../signer/patience.js'

describe('prepareTogether', () => {
  const PATIENCE_MS = 200
  const item = (walletId: string, afterMs: number) => ({ walletId, afterMs })
  type Item = ReturnType<typeof item>
  const prepare = (items: Item[]) =>
    prepareTogether(
      items,
      async (one) => {
        await new Promise((resolve) => setTimeout(resolve, one.afterMs))
        return one.walletId === 'refused' ? undefined : one
      },
      PATIENCE_MS,
    )

  test('returns the results that are ready in time, in order', async () => {
    const items = [item('a', 30), item('b', 1), item('c', 60), item('d', 10)]
    expect(await prepare(items)).toEqual({ ready: items })
  })

  test('returns late results later, with the other results of their wallets', async () => {
    const [late, held, other] = [item('a', 2 * PATIENCE_MS), item('a', 1), item('b', 1)]
    const { ready, late: later } = await prepare([late, held, other])
    expect(ready).toEqual([other])
    expect(await later).toEqual([late, held])
  })

  test('returns nothing for refused items and for no items', async () => {
    expect(await prepare([item('refused', 1)])).toEqual({ ready: [] })
    expect(await prepare([])).toEqual({ ready: [] })
  })
})
