import type { Db } from '../../db/client/connect.js'

/** A busy machine may respond with 503. The client then retries. More than this many are a fault. */
const ATTEMPTS = 3

type SentPost = { status: number; text: string; replayed: boolean }

export type DuplicateRun = {
  /** POST requests to send: `keys` idempotency keys, each sent `duplicates` times at once. */
  keys: number
  duplicates: number
  /** Keys in flight at once. */
  concurrency: number
  /** Sends one POST /v1/intents with this Idempotency-Key. `turn` selects the server. */
  send(key: string, turn: number): Promise<SentPost>
}

export type DuplicateTally = {
  statuses: number[]
  replayed: number
  differing: number
  again: number
}

/** Sends each key's duplicates at once and counts the responses. */
export async function sendDuplicates({
  keys,
  duplicates,
  concurrency,
  send,
}: DuplicateRun): Promise<DuplicateTally> {
  const tally: DuplicateTally = { statuses: [], replayed: 0, differing: 0, again: 0 }
  const sendOn = async (key: string, turn: number): Promise<SentPost> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(key, turn)
      if (answer.status !== 503 || attempt === ATTEMPTS) return answer
      tally.again += 1
    }
  }
  let next = 0
  const work = async () => {
    while (next < keys) {
      const key = `key ${(next += 1)}`
      const turns = Array.from({ length: duplicates }, (_, turn) => sendOn(key, turn))
      const answers = await Promise.all(turns)
      tally.statuses.push(...answers.map(({ status }) => status))
      tally.replayed += answers.filter(({ replayed }) => replayed).length
      if (new Set(answers.map(({ text }) => text)).size !== 1) tally.differing += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return tally
}

/** Rows of an account's intents in the database, and their charged credits. */
export async function countEffects(db: Db, accountId: string) {
  const [intents, charges] = await Promise.all([
    db('intent').where({ account_id: accountId }).select('id'),
    db('ledger')
      .where({ account_id: accountId, reason: 'charge:POST /intents' })
      .select<{ delta: bigint }[]>('delta'),
  ])
  const credits = charges.reduce((sum, { delta }) => sum - Number(delta), 0)
  return { intents: intents.length, charges: charges.length, credits }
}
