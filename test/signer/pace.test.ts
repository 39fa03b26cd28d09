import { describe, expect, test } from '@jest/globals'
import { serveLanes, type Service, type Turn } from '../../signer/loops.js'
import { createOrders, laneOf, none, turns } from './gates.js'
import type { Lane } from '../../db/lanes/signing.js'

describe('a lane whose bundles one account fills', () => {
  /**
   * What waits, by account, is taken whole by each turn; `passed` tells for each of them whether it was one out of
   * turn. `keeps`: what waits of others is another lane's.
   */
  async function serveCrowd(
    { keeps = false }: { keeps?: boolean },
    run: (order: (account: string) => void, turns: Taken[]) => Promise<void>,
  ): Promise<void> {
    const stopping = new AbortController()
    const { wait, open } = createOrders()
    let waiting: string[] = []
    const taken: Taken[] = []
    const others = (crowd: string) => waiting.filter((account) => account !== crowd)
    const begin = (_lane: Lane, _callOthers: () => void, crowd?: string): Promise<Turn> => {
      if (crowd !== undefined && (keeps || others(crowd).length === 0)) return Promise.resolve(none)
      if (waiting.length === 0) return Promise.resolve(none)
      const accounts = waiting
      waiting = []
      taken.push({ accounts, passed: crowd !== undefined })
      return Promise.resolve({ ...none, taken: accounts.length, crowd: 'many' })
    }
    const service: Service = {
      findLanes: () => Promise.resolve([laneOf('a')]),
      begin,
      hasOthers: (crowd) => Promise.resolve(others(crowd).length > 0),
      onFailure: () => undefined,
    }
    const running = serveLanes(service, wait, stopping.signal)
    const order = (account: string) => {
      waiting.push(account)
      open()
    }
    await run(order, taken)
    stopping.abort()
    open()
    await running
  }
  type Taken = { accounts: string[]; passed: boolean }
  const PROMPT = 3

  /** How many turns of the test pass until the lane takes. `orders`: before each of them. */
  async function untilTaken(taken: Taken[], orders = () => {}): Promise<number> {
    const before = taken.length
    let waited = 0
    for (; taken.length === before; waited++) {
      orders()
      await turns()
    }
    return waited
  }

  async function spendPace(order: (account: string) => void, taken: Taken[]): Promise<void> {
    for (let i = 0; i < PROMPT; i++) {
      order('many')
      while (taken.length <= i) await turns()
    }
  }

  /** The bundle that another account's order leaves with, while the one that has spent the lane's pace goes on ordering. */
  async function takeAmongMany(order: (account: string) => void, taken: Taken[]): Promise<Taken> {
    await spendPace(order, taken)
    order('few')
    await untilTaken(taken, () => order('many'))
    return taken[PROMPT] ?? { accounts: [], passed: false }
  }

  test('another one does not wait for its pace, and takes with it what is there', async () => {
    await serveCrowd({}, async (order, taken) => {
      const { accounts, passed } = await takeAmongMany(order, taken)
      expect(passed).toBe(true)
      expect(accounts).toEqual(expect.arrayContaining(['few', 'many']))
    })
  })

  test('others pass at once, though not all the time', async () => {
    await serveCrowd({}, async (order, taken) => {
      await spendPace(order, taken)
      const waited: number[] = []
      for (let i = 0; i < 3; i++) {
        order('few')
        waited.push(await untilTaken(taken, () => order('many')))
        expect(taken.at(-1)).toMatchObject({ passed: true })
      }
      const [first = 0, second = 0, third = 0] = waited
      expect(third).toBeGreaterThan(Math.max(first, second))
    })
  })

  test('it waits for the pace itself, though another lane serves who would pass', async () => {
    await serveCrowd({ keeps: true }, async (order, taken) => {
      const { accounts, passed } = await takeAmongMany(order, taken)
      expect(passed).toBe(false)
      expect(accounts).toEqual(expect.arrayContaining(['few', 'many']))
    })
  })

  test('once nothing more is ordered, what is there waits no longer for company', async () => {
    await serveCrowd({}, async (order, taken) => {
      await spendPace(order, taken)
      const inCompany = await untilTaken(taken, () => order('many'))
      order('many')
      const alone = await untilTaken(taken)
      expect(alone).toBeLessThan(inCompany / 2)
    })
  })

  test('company is waited for a little longer after a bundle in which many travelled', async () => {
    await serveCrowd({}, async (order, taken) => {
      await spendPace(order, taken)
      const untilAlone = async (orders: number) => {
        for (let i = 0; i < orders; i++) order('many')
        return await untilTaken(taken)
      }
      const afterOne = await untilAlone(5)
      const afterMany = await untilAlone(1)
      expect(taken.slice(PROMPT).map(({ accounts }) => accounts.length)).toEqual([5, 1])
      expect(afterMany).toBeGreaterThan(afterOne)
    })
  })
})
