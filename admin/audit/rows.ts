import { assetText } from '../../domain/money.js'
import { locateFunds } from '../../domain/intent/funds.js'
import {
  findOddAccounts,
  findOddEvents,
  findOddMints,
  pageIntents,
  type AuditedIntent,
} from './rows/rows.js'
import { pagesOf } from './pages.js'
import type { Effect } from '../../domain/intent/results.js'
import type { Difference } from './difference.js'
import type { AuditTools } from './tools.js'

const BY_HAND = 'Find out what wrote it. There is no automatic repair.'

/** Compares rows with each other: credits with the ledger, statuses with events, and final statuses with steps. */
export async function* auditRows({ db, progress }: AuditTools): AsyncGenerator<Difference> {
  progress('credits')
  for (const { id, balance, ledgerSum } of await findOddAccounts(db)) {
    const row = `${balance} credits left`
    const chain = `the sum of the ledger is ${ledgerSum}`
    yield { check: 'credits', about: `account ${id}`, row, chain, remedy: BY_HAND }
  }
  for (const { intentId, sequence, burned, minted } of await findOddMints(db)) {
    const about = `step ${sequence} of intent ${intentId}`
    const row = `${assetText(BigInt(burned))} went into the bridge`
    const chain = `${assetText(BigInt(minted))} came out`
    yield { check: 'money', about, row, chain, remedy: BY_HAND }
  }
  let count = 0
  for await (const intents of pagesOf(
    (page) => pageIntents(db, page),
    ({ id }) => id,
  )) {
    progress(`${(count += intents.length)} intents`)
    yield* oddEvents(db, intents)
    for (const intent of intents) yield* judgeEnd(intent)
  }
}

async function* oddEvents(
  db: AuditTools['db'],
  intents: Pick<AuditedIntent, 'id' | 'status' | 'reported'>[],
): AsyncGenerator<Difference> {
  const odd = await findOddEvents(db, intents.map(({ id }) => id)) // prettier-ignore
  for (const { intentId, type, before, status } of odd) {
    const row = `event ${type}, from ${before ?? 'nothing'} to ${status}`
    const chain = 'the transition does not exist'
    yield { check: 'edges', about: `intent ${intentId}`, row, chain, remedy: BY_HAND }
  }
  for (const { id, status, reported } of intents.filter((one) => one.reported !== one.status)) {
    const chain = `last event ${reported ?? 'missing'}`
    yield { check: 'edges', about: `intent ${id}`, row: status, chain, remedy: BY_HAND }
  }
}

type Judged = Omit<AuditedIntent, 'effects'> & { effects: Effect[] }

function* judgeEnd(intent: Judged): Generator<Difference> {
  const { id, status, holds, retried } = intent
  const about = `intent ${id}`
  if (!holds) {
    const chain =
      status === 'completed'
        ? 'not every step has a confirmed success'
        : 'the failed step has succeeded, or is open again'
    if (retried) {
      const remedy = 'It was retried. Check whether its money moved twice.'
      yield { check: 'ends', about, row: status, chain, remedy }
    } else {
      const remedy = 'Set it to executing and restart its workflow.'
      const repair = { type: 'reconsider', intentId: id } as const
      yield { check: 'ends', about, row: status, chain, remedy, repair }
    }
  }
  const funds = holds && fundsOf(intent)
  if (!funds) return
  const [row, chain] = funds
  yield { check: 'funds', about, row, chain, remedy: BY_HAND }
}

/** The funds of a failed intent according to its error, and according to its logs; undefined when they agree. */
function fundsOf({ plan, error, effects }: Judged): [string, string] | undefined {
  const step = plan?.steps.find(({ sequence }) => sequence === error?.step)
  if (!plan || !step || !error?.funds || error.code === 'BRIDGE_TIMEOUT') return undefined
  const [row, chain] = [error.funds, locateFunds(plan, step, effects)].map((funds) =>
    funds
      .map(({ amount, asset, chain, protocol }) => {
        return `${amount} ${asset} on ${chain}${protocol ? ` in ${protocol}` : ''}`
      })
      .join(', '),
  )
  return row === chain ? undefined : [`funds: ${row}`, `funds: ${chain}`]
}
