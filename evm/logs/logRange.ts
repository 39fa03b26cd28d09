import { didAnswer, type ChainClient } from '../connect.js'
import { readBlock, readLogs, type EventLog, type LogFilter } from '../read.js'
import { ServiceError } from '../../domain/errors.js'

/** First and widest range in blocks: the limit of many public endpoints. */
const MOST_BLOCKS = 2_000n
/** Full-width answers in a row after which a wider range is tried. */
const ANSWERS_BEFORE_WIDENING = 32
/** Up to this width, in blocks, a missing answer is not attributed to the range. */
const QUICK_BLOCKS = 50n

/** The widest range that an endpoint is known to answer, and the number of such answers in a row. */
type Width = { blocks: bigint; answers: number }
const widths = new WeakMap<ChainClient, Width>()

/**
 * Logs of a range of blocks, split to the endpoint's limit. Endpoints limit blocks, results or time, with different
 * errors, so any error halves the range, and the working width is kept. No block is skipped: an answer counts only
 * when the endpoint has the range's last block.
 *
 * @param client - A single endpoint: logs and headers of several may not fit together.
 * @throws {ServiceError} RPC_ERROR when it rejects a single block, or does not have the last one.
 */
export async function readLogRange(
  client: ChainClient,
  { from, to }: { from: bigint; to: bigint },
  filter: LogFilter,
): Promise<EventLog[]> {
  const found: EventLog[] = []
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

type BlockRange = { from: bigint; to: bigint }

/** Undefined when the range is too wide. */
async function readPart(
  client: ChainClient,
  part: BlockRange,
  filter: LogFilter,
): Promise<EventLog[] | undefined> {
  const size = part.to - part.from + 1n
  // Requested together, so that the same node behind one URL answers both.
  const asked = Promise.all([
    readLogs(client, part, filter),
    readBlock(client, { blockNumber: part.to }),
  ])
  const answer = await asked.catch((error: unknown) => {
    const isTooWide = didAnswer(error) ? size > 1n : size > QUICK_BLOCKS
    if (isTooWide) widths.set(client, { blocks: size / 2n, answers: 0 })
    // A missing answer may come from a slow range: the next call uses a narrower one.
    if (!isTooWide || !didAnswer(error)) throw error
    return undefined
  })
  if (!answer) return undefined
  const [logs, last] = answer
  if (!last) throw missingBlock(client, part.to)
  widenAfter(client, size)
  return logs
}

/** Widens again, because the limit may have come from one crowded range. */
function widenAfter(client: ChainClient, size: bigint): void {
  const { blocks, answers } = widthOf(client)
  if (size < blocks || blocks === MOST_BLOCKS) return
  const isEnough = answers + 1 >= ANSWERS_BEFORE_WIDENING
  const wider = blocks * 2n < MOST_BLOCKS ? blocks * 2n : MOST_BLOCKS
  widths.set(client, isEnough ? { blocks: wider, answers: 0 } : { blocks, answers: answers + 1 })
}

function missingBlock({ chain }: ChainClient, block: bigint): ServiceError {
  const reason = `it does not have block ${block} yet`
  const details = { chain: chain.name, method: 'eth_getLogs', answered: false, reverted: false }
  const message = `${chain.name} cannot return the logs: ${reason}.`
  return new ServiceError('RPC_ERROR', message, { ...details, reason })
}
