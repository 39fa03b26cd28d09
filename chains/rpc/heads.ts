import type { Call } from './batch.js'
import { isWell, type Endpoint } from './endpoint.js'

/** How often the endpoints of a chain that is in use are asked for their newest block. */
const COMPARE_MS = 10_000

/** What is known of the endpoints of a chain by comparing them. */
export type Heads = {
  chainId: number
  compareMs: number
  nextAt: number
  /** Numbers of the newest blocks at the comparison before the last one. */
  earlier: Map<Endpoint, number>
  /** Those that lack a block which another one had a comparison earlier. */
  behind: Set<Endpoint>
  /** Those that have other blocks than the rest, and the number of the block by which that was seen last. */
  apart: Map<Endpoint, number>
  tell: HeadsListener
}

type State = 'behind' | 'on another fork' | 'in step'

/** Who wants to know when a comparison changes what is thought of an endpoint. */
export type HeadsListener = {
  changed(position: number, state: State): void
  refused(position: number, chainId: number): void
}

export const createHeads = (
  chainId: number,
  tell: HeadsListener,
  compareMs = COMPARE_MS,
): Heads => ({
  ...{ chainId, compareMs, nextAt: 0, earlier: new Map(), behind: new Set(), apart: new Map() },
  tell,
})

/** The endpoints with the best first: in step with the others, then those behind, then those on a fork. */
export function inOrder({ behind, apart }: Heads, endpoints: Endpoint[]): Endpoint[] {
  const rank = (endpoint: Endpoint) =>
    Number(behind.has(endpoint)) + 2 * Number(apart.has(endpoint))
  return [...endpoints].sort((a, b) => rank(a) - rank(b))
}

/** Those that answer and are in step with the others, or where there is none, all that are on no fork. */
export function inStep({ behind, apart }: Heads, endpoints: Endpoint[]): Endpoint[] {
  const known = endpoints.filter((endpoint) => !endpoint.isRefused && !apart.has(endpoint))
  const best = known.filter((endpoint) => isWell(endpoint) && !behind.has(endpoint))
  return best.length > 0 ? best : known
}

/**
 * Looks after endpoints beside the requests that pass: whether one that is away is back, and now and then
 * whether those that answer tell of the same chain. Costs no request its time.
 */
export function lookAfter(heads: Heads, endpoints: Endpoint[]): void {
  for (const endpoint of endpoints) {
    if (!endpoint.isRefused && endpoint.health.isProbeDue()) void checkChain(heads, endpoint)
  }
  const now = Date.now()
  if (now < heads.nextAt) return
  heads.nextAt = now + heads.compareMs
  void compare(heads, endpoints.filter(isWell))
}

/** Asks an endpoint which chain it serves, and never again when it is another one. */
async function checkChain({ chainId, tell }: Heads, endpoint: Endpoint): Promise<void> {
  const answer = await read<string>(endpoint, 'eth_chainId')
  const served = Number(answer ?? chainId)
  if (served === chainId || endpoint.isRefused) return
  endpoint.isRefused = true
  tell.refused(endpoint.position, served)
}

async function compare(heads: Heads, well: Endpoint[]): Promise<void> {
  const told = await Promise.all(
    well.map(async (endpoint) => {
      const asked = [readBlock(endpoint, 'latest'), checkChain(heads, endpoint)] as const
      const [head] = await Promise.all(asked)
      return { endpoint, head }
    }),
  )
  const known = told.filter((one): one is Told => one.head !== undefined && !one.endpoint.isRefused)
  if (known.length < 2) return
  const apart = await findApart(known, heads.apart)
  const inStep = known.filter(({ endpoint }) => !apart.has(endpoint))
  const expected = Math.max(0, ...inStep.map(({ endpoint }) => heads.earlier.get(endpoint) ?? 0))
  const late = inStep.filter(({ head }) => Number(head.number) < expected)
  const behind = new Set(late.map(({ endpoint }) => endpoint))
  for (const { endpoint } of known) {
    const [was, is] = [stateOf(heads, endpoint), stateOf({ behind, apart }, endpoint)]
    if (was !== is) heads.tell.changed(endpoint.position, is)
  }
  heads.earlier = new Map(known.map(({ endpoint, head }) => [endpoint, Number(head.number)]))
  Object.assign(heads, { behind, apart })
}

type BlockId = { number: string; hash: string }
type Told = { endpoint: Endpoint; head: BlockId }

/**
 * Those whose chain is not that of the rest. Of two that contradict each other the preferred one is believed;
 * of several the majority. Where nothing was told, what was thought `before` stands; so it does where they have an older
 * block in common: all have that from before the fork, and a node may tell an old one as its newest.
 */
async function findApart(known: Told[], before: Heads['apart']): Promise<Heads['apart']> {
  const [first, ...others] = known as [Told, ...Told[]]
  const compared = await Promise.all(others.map((other) => compareTo(first, other)))
  const contradict = new Map<Endpoint, number>()
  for (const { endpoint, at, isSame } of compared) {
    const since = before.get(endpoint)
    const stands = isSame === undefined || (isSame && at < (since ?? 0))
    if (stands && since !== undefined) contradict.set(endpoint, since)
    if (isSame === false) contradict.set(endpoint, at)
  }
  if (contradict.size <= known.length / 2) return contradict
  const minority = known.filter(({ endpoint }) => !contradict.has(endpoint))
  return new Map(minority.map(({ endpoint, head }) => [endpoint, Number(head.number)]))
}

type Comparison = { endpoint: Endpoint; at: number; isSame: boolean | undefined }

/** Whether the higher of two chains contains the newest block of the lower one, `at`; undefined when that is not told. */
async function compareTo(one: Told, other: Told): Promise<Comparison> {
  const isHigher = Number(one.head.number) > Number(other.head.number)
  const [high, low] = isHigher ? [one, other] : [other, one]
  const { number, hash } = low.head
  const isLevel = high.head.number === number
  const block = isLevel ? high.head : await readBlock(high.endpoint, number)
  return { endpoint: other.endpoint, at: Number(number), isSame: block && block.hash === hash }
}

function stateOf({ behind, apart }: Pick<Heads, 'behind' | 'apart'>, endpoint: Endpoint): State {
  if (apart.has(endpoint)) return 'on another fork'
  return behind.has(endpoint) ? 'behind' : 'in step'
}

const readBlock = (endpoint: Endpoint, number: string) =>
  read<BlockId>(endpoint, 'eth_getBlockByNumber', [number, false])

/** undefined when the endpoint does not say. */
async function read<T>(endpoint: Endpoint, method: string, params: unknown[] = []) {
  const call: Call = { method, params, isOver: false }
  const reply = await endpoint.ask(call).catch(() => undefined)
  return reply && 'result' in reply ? ((reply.result ?? undefined) as T | undefined) : undefined
}
