import { didAnswer, type ChainClient } from './connect.js'
import { readBlock, readLogs, type Log, type LogFilter } from './read.js'
import { ServiceError } from '../domain/errors.js'

/** Blocks asked for at first, and at most: what many public endpoints answer. */
const MOST_BLOCKS = 2_000n
/** Answers of the full width after which a wider one is tried. */
const ANSWERS_BEFORE_WIDENING = 32
/** Narrower than this no range takes so long that nothing is answered. */
const QUICK_BLOCKS = 50n

/** The widest range that an endpoint answers as far as it is known, and how often in a row it has. */
type Width = { blocks: bigint; answers: number }
const widths = new WeakMap<ChainClient, Width>()

/**
 * Logs of a range of blocks, however few of them the endpoint answers at once: by number of blocks, of
 * results or by time, each in its own words. So any refusal halves the range, and what worked is
 * remembered. No block is skipped: an answer counts only when the endpoint has the last block of it.
 *
 * @param client - One endpoint alone: logs and headers of several do not belong together.
 * @throws {ServiceError} RPC_ERROR when it refuses a single block, or does not have the last one.
 */
export async function readLogRange(
  client: ChainClient,
  { from, to }: { from: bigint; to: bigint },
  filter: LogFilter,
): Promise<Log[]> {
  const found: Log[] = []
  let next = from
  while (next <= to) {
    const { blocks } = widthOf(client)
    const last = next + blocks - 1n < to ? next + blocks - 1n : to
    const logs = await readPart(client, { from: next, to: last }, filter)
    if (!logs) continue
    found.push(...logs)
    next = last + 1n
  }
  return found
}

const widthOf = (client: ChainClient) => widths.get(client) ?? { blocks: MOST_BLOCKS, answers: 0 }

type Part = { from: bigint; to: bigint }

/** Undefined when the part is too wide: a narrower one is to be asked for. */
async function readPart(
  client: ChainClient,
  part: Part,
  filter: LogFilter,
): Promise<Log[] | undefined> {
  const size = part.to - part.from + 1n
  // Asked in one go, so that behind one address the same node answers both.
  const asked = Promise.all([
    readLogs(client, part, filter),
    readBlock(client, { blockNumber: part.to }),
  ])
  const answer = await asked.catch((error: unknown) => {
    const isTooWide = didAnswer(error) ? size > 1n : size > QUICK_BLOCKS
    if (isTooWide) widths.set(client, { blocks: size / 2n, answers: 0 })
    // A silence may have been a range that takes too long: the next round asks for less.
    if (!isTooWide || !didAnswer(error)) throw error
    return undefined
  })
  if (!answer) return undefined
  const [logs, last] = answer
  if (!last) throw lacksBlock(client, part.to)
  widenAfter(client, size)
  return logs
}

/** A limit may have been that of one crowded range. */
function widenAfter(client: ChainClient, size: bigint): void {
  const { blocks, answers } = widthOf(client)
  if (size < blocks || blocks === MOST_BLOCKS) return
  const isEnough = answers + 1 >= ANSWERS_BEFORE_WIDENING
  const wider = blocks * 2n < MOST_BLOCKS ? blocks * 2n : MOST_BLOCKS
  widths.set(client, isEnough ? { blocks: wider, answers: 0 } : { blocks, answers: answers + 1 })
}

function lacksBlock({ chain }: ChainClient, block: bigint): ServiceError {
  const reason = `it does not have block ${block} yet`
  const details = { chain: chain.name, method: 'eth_getLogs', answered: false, reverted: false }
  const message = `${chain.name} cannot tell the logs: ${reason}.`
  return new ServiceError('RPC_ERROR', message, { ...details, reason })
}
