/** When none has become ready for so long, those that are go without the others. */
export const LINGER_MS = 500
/** However they trickle in, the first one that is ready waits no longer. */
const MOST_LINGER_MS = 3_000

/** One of several that are prepared side by side. */
type Pending<R> = { owner: string; isOver: boolean; result: R | undefined; over: Promise<void> }

/**
 * Prepares all side by side, and hands on together what becomes ready in one go; what is late follows when it is
 * ready, so that it holds up nobody. What belongs to one wallet is handed on in its order.
 *
 * @param prepare - Undefined for what is not to be handed on. Must not throw.
 */
export async function inWaves<T extends { walletId: string }, R>(
  items: T[],
  prepare: (item: T) => Promise<R | undefined>,
  handOn: (ready: R[]) => Promise<void>,
): Promise<void> {
  let left = items.map((item) => begin(item.walletId, prepare(item)))
  while (left.length > 0) {
    await untilSomeAreReady(left)
    const ready = inTurn(left)
    left = left.filter((one) => !ready.includes(one))
    const results = ready.map(({ result }) => result).filter((result) => result !== undefined)
    if (results.length > 0) await handOn(results)
  }
}

function begin<R>(owner: string, preparing: Promise<R | undefined>): Pending<R> {
  const pending: Pending<R> = {
    ...{ owner, isOver: false, result: undefined },
    over: preparing.then((result) => {
      pending.isOver = true
      pending.result = result
    }),
  }
  return pending
}

async function untilSomeAreReady<R>(left: Pending<R>[]): Promise<void> {
  const open = left.filter(({ isOver }) => !isOver).map(({ over }) => over)
  // Of those that are over already each waits for one before it.
  if (open.length > 0) await Promise.race(open)
  const until = Date.now() + MOST_LINGER_MS
  let before: number
  do {
    before = countOver(left)
    await atMost(Promise.all(open), LINGER_MS)
  } while (countOver(left) > before && Date.now() < until)
}

const countOver = (pending: Pending<unknown>[]) => pending.filter(({ isOver }) => isOver).length

/** Those that are over, and of whose wallet nothing before them is still open. */
function inTurn<R>(left: Pending<R>[]): Pending<R>[] {
  const held = new Set<string>()
  return left.filter(({ owner, isOver }) => {
    if (!isOver) held.add(owner)
    return !held.has(owner)
  })
}

/** What a promise comes to, but undefined after so many milliseconds. */
export async function atMost<T>(waiting: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([waiting, late]).finally(() => clearTimeout(timer))
}
