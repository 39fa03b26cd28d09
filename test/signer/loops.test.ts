import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { serveLanes, type Service, type Turn } from '../../signer/loops.js'
import { runSigner } from '../../signer/sign.js'
import { inWaves } from '../../signer/waves.js'
import { createWorld, type World } from '../lanes/world/fixture.js'
import { recordStatements } from '../support/sessionStatements.js'
import { createGate, createOrders, laneOf, nobodyElse, none, turns } from './gates.js'
import type { Lane } from '../../db/lanes/signing.js'

describe('the lanes of a chain', () => {
  async function serve(
    begin: Service['begin'],
    run: (announce: () => void, failures: unknown[]) => Promise<void>,
    lanes = ['a', 'b'],
  ) {
    const stopping = new AbortController()
    const { wait, open } = createOrders()
    const failures: unknown[] = []
    const service: Service = {
      findLanes: () => Promise.resolve(lanes.map(laneOf)),
      begin,
      hasOthers: nobodyElse,
      onFailure: (error) => failures.push(error),
    }
    const running = serveLanes(service, wait, stopping.signal)
    await turns()
    await run(open, failures)
    stopping.abort()
    open()
    await running
  }

  test('are served when something is announced while they are at work', async () => {
    const { wait, open } = createGate()
    const begun: string[] = []
    const begin = async ({ sender }: Lane) => {
      begun.push(sender)
      await wait()
      return none
    }
    await serve(begin, async (announce) => {
      expect(begun).toEqual(['a', 'b'])
      announce()
      await turns()
      expect(begun).toEqual(['a', 'b'])
      open()
      await turns()
      expect(begun).toEqual(['a', 'b', 'a', 'b'])
      open()
      await turns()
      expect(begun).toEqual(['a', 'b', 'a', 'b'])
    })
  })

  test('are called by each other when there is something for them', async () => {
    const begun: string[] = []
    const begin = ({ sender }: Lane, callOthers: () => void) => {
      begun.push(sender)
      if (begun.length === 1) callOthers()
      return Promise.resolve(none)
    }
    await serve(begin, async () => {
      await turns()
      expect(begun.filter((sender) => sender === 'b').length).toBeGreaterThan(0)
    })
  })

  test('do not wait for one that fails, and are told of it', async () => {
    const begun: string[] = []
    const begin = ({ sender }: Lane) => {
      begun.push(sender)
      return sender === 'a' ? Promise.reject(new Error('gone')) : Promise.resolve(none)
    }
    await serve(begin, async (announce, failures) => {
      announce()
      await turns()
      expect(begun.filter((sender) => sender === 'b')).toHaveLength(2)
      expect(failures).toHaveLength(1)
    })
  })

  test('take again when a slow turn is over: of what it held nobody tells that it is free', async () => {
    const { wait, open } = createGate()
    let begun = 0
    const begin = (): Promise<Turn> => {
      if (++begun > 1) return Promise.resolve(none)
      return Promise.resolve({ ...none, taken: 1, over: wait() })
    }
    const takeWhileItLasts = async () => {
      while (begun < 2) await turns()
      await turns()
      expect(begun).toBe(2)
      open()
      await turns()
      expect(begun).toBe(3)
    }
    await serve(begin, takeWhileItLasts, ['a'])
  })

  test('look again for what was passed over for a bundle that was stored while they looked', async () => {
    const [first, look] = [createGate(), createGate()]
    let begun = 0
    const begin = async (): Promise<Turn> => {
      begun += 1
      if (begun === 1) return { ...none, taken: 20, isFull: true, over: first.wait() }
      if (begun === 2) await look.wait()
      return none
    }
    const storeWhileItLooks = async () => {
      first.open()
      await turns()
      expect(begun).toBe(2)
      look.open()
      await turns()
      expect(begun).toBe(3)
    }
    await serve(begin, storeWhileItLooks, ['a'])
  })

  test('end only when what they have begun is over', async () => {
    const { wait, open } = createGate()
    let isOver = false
    let served = 0
    const begin = (): Promise<Turn> => {
      if (served++ > 0) return Promise.resolve(none)
      const over = wait().then(() => {
        isOver = true
      })
      return Promise.resolve({ taken: 1, isFull: false, isAlone: false, over })
    }
    const stopping = new AbortController()
    const next = createOrders()
    const service: Service = {
      findLanes: () => Promise.resolve([laneOf('a')]),
      begin,
      hasOthers: nobodyElse,
      onFailure: () => undefined,
    }
    const running = serveLanes(service, next.wait, stopping.signal)
    await turns()
    stopping.abort()
    next.open()
    await turns()
    expect(isOver).toBe(false)
    open()
    await running
    expect(isOver).toBe(true)
  })
})

describe('a lane', () => {
  /** How many operations each of its turns took, of so many that come one after the other. */
  async function turnsOf(count: number, size: number): Promise<number[]> {
    const stopping = new AbortController()
    const { wait, open } = createOrders()
    let waiting = 0
    const taken: number[] = []
    const begin = (): Promise<Turn> => {
      const now = Math.min(waiting, size)
      waiting -= now
      if (now > 0) taken.push(now)
      return Promise.resolve({ ...none, taken: now, isFull: now === size })
    }
    const service: Service = {
      findLanes: () => Promise.resolve([laneOf('a')]),
      begin,
      hasOthers: nobodyElse,
      onFailure: () => undefined,
    }
    const running = serveLanes(service, wait, stopping.signal)
    for (let i = 0; i < count; i++) {
      waiting += 1
      open()
      await turns()
    }
    while (taken.reduce((sum, one) => sum + one, 0) < count) await turns()
    stopping.abort()
    open()
    await running
    return taken
  }

  test('serves whoever comes alone at once, and a crowd together', async () => {
    const taken = await turnsOf(30, 100)
    expect(taken.slice(0, 2)).toEqual([1, 1])
    expect(taken.length).toBeLessThanOrEqual(10)
  })

  test('begins a second bundle while a full one is under way, and then one as each is over', async () => {
    const { wait, open } = createGate()
    let begun = 0
    const begin = (): Promise<Turn> => {
      begun += 1
      return Promise.resolve({ ...none, taken: 20, isFull: true, over: wait() })
    }
    const service: Service = {
      findLanes: () => Promise.resolve([laneOf('a')]),
      begin,
      hasOthers: nobodyElse,
      onFailure: () => undefined,
    }
    const stopping = new AbortController()
    const next = createOrders()
    const running = serveLanes(service, next.wait, stopping.signal)
    await turns()
    expect(begun).toBe(2)
    open()
    await turns()
    expect(begun).toBe(4)
    stopping.abort()
    open()
    next.open()
    await turns()
    open()
    await running
  })

  test('waits for nobody once its bundles are full', async () => {
    const taken = await turnsOf(12, 1)
    expect(taken).toEqual(Array(12).fill(1))
  })
})

describe('a signer that has nothing to do', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ lanes: 2 })
  })
  afterAll(() => world?.stop())

  test('asks the database one question each time it looks for work', async () => {
    const stopping = new AbortController()
    const asked = recordStatements(world.signerDb)
    let looks = 0
    const nextWork = () => {
      if (++looks === 10) stopping.abort()
      return Promise.resolve(undefined)
    }
    await runSigner(world.signer, nextWork, stopping.signal)
    expect(looks).toBe(10)
    // What is stuck is looked for beside it, at a pace of its own.
    const questions = asked.filter((text) => !text.includes('chain_tx_send'))
    expect(questions).toEqual(Array(10).fill('has work'))
  })
})

describe('inWaves', () => {
  const item = (walletId: string, afterMs: number) => ({ walletId, afterMs })
  type Item = ReturnType<typeof item>
  const wavesOf = async (items: Item[]) => {
    const waves: Item[][] = []
    await inWaves(
      items,
      async (one) => {
        await new Promise((resolve) => setTimeout(resolve, one.afterMs))
        return one.walletId === 'refused' ? undefined : one
      },
      (ready) => {
        waves.push(ready)
        return Promise.resolve()
      },
    )
    return waves
  }

  test('hands on together what becomes ready in one go, in its order', async () => {
    const items = [item('a', 30), item('b', 1), item('c', 60), item('d', 10)]
    expect(await wavesOf(items)).toEqual([items])
  })

  test('keeps what is late for later, with what its wallet ordered after it', async () => {
    const [late, held, other] = [item('a', 2_000), item('a', 1), item('b', 1)]
    expect(await wavesOf([late, held, other])).toEqual([[other], [late, held]])
  })

  test('hands on nothing that was refused, and nothing of nothing', async () => {
    expect(await wavesOf([item('refused', 1)])).toEqual([])
    expect(await wavesOf([])).toEqual([])
  })
})
