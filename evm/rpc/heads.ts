import type { JsonRpcCall } from './batch.js'
import { isWell, type Endpoint } from './endpoint.js'

/** Interval of comparing the newest blocks of a chain's endpoints while the chain is in use. */
const COMPARE_MS = 10_000

/** The results of comparing the endpoints of a chain. */
export type Heads = {
  chainId: number
  compareMs: number
  nextAt: number
  /** Newest block numbers at the previous comparison. */
  earlier: Map<Endpoint, number>
  /** Endpoints without a block that another one had a comparison earlier. */
  behind: Set<Endpoint>
  /** Endpoints on another fork, and the block number at which that was last seen. */
  apart: Map<Endpoint, number>
  listener: HeadsListener
}

type HeadState = 'behind' | 'on another fork' | 'in step'

/** Notified when a comparison changes the state of an endpoint. */
export type HeadsListener = {
  changed(position: number, state: HeadState): void
  refused(position: number, chainId: number): void
}

export const createHeads = (
  chainId: number,
  listener: HeadsListener,
  compareMs = COMPARE_MS,
): Heads => ({
  ...{ chainId, compareMs, nextAt: 0, earlier: new Map(), behind: new Set(), apart: new Map() },
  listener,
})

/** The endpoints in order of preference: in step, then behind, then on a fork. */
export function inOrder({ behind, apart }: Heads, endpoints: Endpoint[]): Endpoint[] {
  const rank = (endpoint: Endpoint) =>
    Number(behind.has(endpoint)) + 2 * Number(apart.has(endpoint))
  return [...endpoints].sort((a, b) => rank(a) - rank(b))
}

/** The endpoints that answer and are in step; if there are none, all that are on no fork. */
export function inStep({ behind, apart }: Heads, endpoints: Endpoint[]): Endpoint[] {
  const known = endpoints.filter((endpoint) => !endpoint.isRefused && !apart.has(endpoint))
  const best = known.filter((endpoint) => isWell(endpoint) && !behind.has(endpoint))
  return best.length > 0 ? best : known
}

/**
 * Monitors endpoints in the background: whether an unavailable one answers again and, periodically, whether all are
 * on the same chain. No request waits for it.
 */
export function lookAfter(heads: Heads, endpoints: Endpoint[]): void {
  const [first] = endpoints
  if (first && endpoints.length === 1) return lookAfterOnly(first)
  for (const endpoint of endpoints) {
    if (!endpoint.isRefused && endpoint.health.isProbeDue()) void checkChain(heads, endpoint)
  }
  const now = Date.now()
  if (now < heads.nextAt) return
  heads.nextAt = now + heads.compareMs
  void compare(heads, endpoints.filter(isWell))
}

/** Requests probe an only endpoint themselves, unless it throttles them. It is never ignored. */
function lookAfterOnly(endpoint: Endpoint): void {
  const isResting = endpoint.health.restsUntil() > Date.now()
  if (isResting && endpoint.health.isProbeDue()) void read(endpoint, 'eth_chainId')
}

/** Reads the chain id of an endpoint, and ignores the endpoint permanently when it is another chain's. */
async function checkChain({ chainId, listener }: Heads, endpoint: Endpoint): Promise<void> {
  const answer = await read<string>(endpoint, 'eth_chainId')
  const served = Number(answer ?? chainId)
  if (served === chainId || endpoint.isRefused) return
  endpoint.isRefused = true
  listener.refused(endpoint.position, served)
}

async function compare(heads: Heads, well: Endpoint[]): Promise<void> {
  const answers = await Promise.all(
    well.map(async (endpoint) => {
      const asked = [readBlock(endpoint, 'latest'), checkChain(heads, endpoint)] as const
      const [head] = await Promise.all(asked)
      return { endpoint, head }
    }),
  )
  const known = answers.filter(
    (one): one is EndpointHead => one.head !== undefined && !one.endpoint.isRefused,
  )
  if (known.length < 2) return
  const apart = await findApart(known, heads.apart)
  const inStep = known.filter(({ endpoint }) => !apart.has(endpoint))
  const expected = Math.max(0, ...inStep.map(({ endpoint }) => heads.earlier.get(endpoint) ?? 0))
  const late = inStep.filter(({ head }) => Number(head.number) < expected)
  const behind = new Set(late.map(({ endpoint }) => endpoint))
  for (const { endpoint } of known) {
    const [was, is] = [stateOf(heads, endpoint), stateOf({ behind, apart }, endpoint)]
    if (was !== is) heads.listener.changed(endpoint.position, is)
  }
  heads.earlier = new Map(known.map(({ endpoint, head }) => [endpoint, Number(head.number)]))
  Object.assign(heads, { behind, apart })
}

type RawHeader = { number: string; hash: string }
type EndpointHead = { endpoint: Endpoint; head: RawHeader }

/**
 * The endpoints on another fork than the rest. Of two that differ the preferred one counts; of more, the majority. An
 * endpoint without an answer keeps its state from `before`. It also keeps it when both share only an older block: that
 * block is from before the fork, and a node may report an old block as its newest.
 */
async function findApart(known: EndpointHead[], before: Heads['apart']): Promise<Heads['apart']> {
  const [first, ...others] = known as [EndpointHead, ...EndpointHead[]]
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

/** Whether the higher of two chains contains the newest block `at` of the lower one; undefined without an answer. */
async function compareTo(one: EndpointHead, other: EndpointHead): Promise<Comparison> {
  const isHigher = Number(one.head.number) > Number(other.head.number)
  const [high, low] = isHigher ? [one, other] : [other, one]
  const { number, hash } = low.head
  const isLevel = high.head.number === number
  const block = isLevel ? high.head : await readBlock(high.endpoint, number)
  return { endpoint: other.endpoint, at: Number(number), isSame: block && block.hash === hash }
}

function stateOf(
  { behind, apart }: Pick<Heads, 'behind' | 'apart'>,
  endpoint: Endpoint,
): HeadState {
  if (apart.has(endpoint)) return 'on another fork'
  return behind.has(endpoint) ? 'behind' : 'in step'
}

const readBlock = (endpoint: Endpoint, number: string) =>
  read<RawHeader>(endpoint, 'eth_getBlockByNumber', [number, false])

/** Undefined when the endpoint does not answer. */
async function read<T>(endpoint: Endpoint, method: string, params: unknown[] = []) {
  const call: JsonRpcCall = { method, params, isSettled: false }
  const reply = await endpoint.ask(call).catch(() => undefined)
  return reply && 'result' in reply ? ((reply.result ?? undefined) as T | undefined) : undefined
}
