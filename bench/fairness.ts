import { Client, Connection } from '@temporalio/client'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAccount, createApiKey } from '../db/tenants/accounts.js'
import { createHome, removeHome, startStack, type Stack } from '../test/e2e/stack.js'
import { createCallers, inTurns, quantile } from './callers.js'
import { dismiss, fundAll, gatherCrowd, openWallets, type Crowd } from './crowd.js'
import { readTimes } from './histories.js'

/**
 * One account sends a flood of lends at once, another one a few: alone, while what the flood has left is worked off, and
 * while another one is posted. Their p95 from POST to the end moves by less than a fifth and a bundle. Where they waited
 * is printed beside.
 */
const { values } = parseArgs({
  options: {
    flood: { type: 'string', default: '2000' },
    /** Of the account that sends few, in each round. */
    few: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
  },
})
const FLOOD = Number(values.flood)
const FEW = Number(values.few)
const ROUNDS = Number(values.rounds)
const CONNECTIONS = Number(values.connections)
/** The flood's wallets: each lends some times. */
const MOST_WALLETS = 200
/** A wallet gets 1 USDC: enough for each of its lends. */
const AMOUNT = 0.05
/** Goal: of p95, and a bundle on top. */
const MOST_GROWTH = 0.2
/** Between two of the few, so that they are not a flood of their own. */
const APART_MS = 400
/** Until the flood that is posted beside the few has its pace. */
const BEGUN_MS = 4_000
/** After so long the few are forgotten, and a flood is taken as that of an account that is alone. */
const FORGOTTEN_MS = 61_000
const POLL_MS = 250

/** Stages of an intent in their order, each as ms since its POST; those of its workflow by Temporal's clock. */
const stages = [
  ...(['answered', 'started', 'taken', 'decided', 'ordered', 'signed', 'mined'] as const),
  ...(['heard', 'taken again', 'done', 'closed'] as const),
]
type Times = Record<(typeof stages)[number], number>
type Party = { crowd: Crowd & { temporal: Client }; wallets: string[] }

const home = await createHome()
// As in bench:saturation: no node of a network stands still while it writes its state.
const stack = await startStack(home, { DEVNET_STATE_SECONDS: '86400' })
const connection = await Connection.connect({ address: stack.facts.temporalAddress })
const temporal = new Client({ connection })
try {
  await measure(stack)
} finally {
  await connection.close()
  await stack.stop()
  removeHome(home)
}

async function measure(stack: Stack): Promise<void> {
  const many = await gatherCrowd(stack, CONNECTIONS)
  const few = await gatherAccount(stack)
  const flood = await open(many, Math.min(FLOOD, MOST_WALLETS))
  const party = await open(few, FEW)
  await lendSome(party)
  const alone = await lendSome(party)
  await sleep(FORGOTTEN_MS)
  await sendFlood(flood)
  const workedOff = await lendSome(party)
  const left = [await countLeft(many)]
  await untilOver(many)
  const sent = sendFlood(flood)
  await sleep(BEGUN_MS)
  const posted = await lendSome(party)
  left.push(await countLeft(many))
  report({ alone, 'worked off': workedOff, posted }, { bundleMs: await readBundleMs(flood), left })
  await sent
  await untilOver(many)
  await dismiss(few)
  await dismiss(many)
}

/** Another account of the same plan, with callers of its own. */
async function gatherAccount(stack: Stack): Promise<Crowd> {
  const crowd = await gatherCrowd(stack, FEW)
  const { plan } = await crowd.db('account').first<{ plan: 'pro' }>('plan')
  const { id } = await createAccount(crowd.db, { name: 'few', plan })
  await crowd.db('account').where({ id }).update({ rpm: 1_000_000_000, purchased: 1_000_000_000 })
  const apiKey = await createApiKey(crowd.db, id, { name: 'few' })
  crowd.callers.hangUp()
  const facts = { ...stack.facts, apiKey }
  return { ...crowd, facts, callers: createCallers(facts, FEW) }
}

async function open(crowd: Crowd, count: number): Promise<Party> {
  const wallets = await openWallets(crowd, count)
  await fundAll(crowd, wallets)
  return { crowd: { ...crowd, temporal }, wallets }
}

function wishOf(walletId: string) {
  return { walletId, asset: 'USDC', action: 'lend', amount: AMOUNT, chain: 'arbitrum-sepolia' }
}

async function sendFlood({ crowd, wallets }: Party): Promise<void> {
  const items = Array.from({ length: FLOOD }, (_, i) => wallets[i % wallets.length] ?? '')
  await crowd.callers.postEach(items, '/intents', wishOf)
}

/** One lend of each wallet, one after the other begins, in each round. Resolves when all are over. */
async function lendSome({ crowd, wallets }: Party): Promise<Times[]> {
  const times: Times[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begun = wallets.map(async (walletId, at) => {
      await sleep(at * APART_MS)
      // On a connection of its own: one that was idle may just be closed by the API.
      const callers = createCallers(crowd.facts, 1)
      const [answer] = await callers.postEach([walletId], '/intents', wishOf)
      callers.hangUp()
      if (!answer) throw new Error('No answer.')
      return { ...answer, id: String(answer.body.id) }
    })
    const posts = await Promise.all(begun)
    times.push(...(await inTurns(posts, FEW, (post) => untilDone(crowd, post))))
  }
  return times
}

type Row = Record<'ordered' | 'signed' | 'mined' | 'done', Date> & { status: string }

async function untilDone(
  { db, temporal }: Crowd & { temporal: Client },
  { id, sentAt, tookMs }: { id: string; sentAt: number; tookMs: number },
): Promise<Times> {
  const query = db('intent as i')
    .leftJoin('operation as o', 'o.intent_id', 'i.id')
    .where('i.id', id)
    .select<Row[]>(
      ...['i.status', 'i.completed_at as done', 'o.created_at as ordered'],
      ...['o.signed_at as signed', 'o.mined_at as mined'],
    )
  for (;;) {
    const [row] = await query.clone()
    if (row?.status === 'completed') {
      const { ordered, signed, mined, done } = row
      const rows = Object.entries({ ordered, signed, mined, done })
      const told = Object.entries(await readTimes(temporal, id))
      const all = [...rows, ...told].map(([stage, at]) => [stage, Number(at) - sentAt])
      return { ...(Object.fromEntries(all) as Times), answered: tookMs }
    }
    if (row?.status === 'failed') throw new Error(`${id} has failed.`)
    await sleep(POLL_MS)
  }
}

/** How many intents are not over. */
async function countLeft({ db }: Crowd): Promise<number> {
  const [row] = await db('intent')
    .whereNotIn('status', ['completed', 'failed'])
    .count<{ count: bigint }[]>('* as count')
  return Number(row?.count ?? 0)
}

async function untilOver(crowd: Crowd): Promise<void> {
  while ((await countLeft(crowd)) > 0) await sleep(POLL_MS)
}

/** What a bundle more takes that leaves before: from one of the flood to the next one of its lane, ms. */
async function readBundleMs({ crowd: { db }, wallets }: Party): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ ms: number }] }>(
    `select percentile_cont(0.5) within group (order by extract(epoch from gap) * 1000)::float8 as ms from (
       select at - lag(at) over (partition by sender order by at) as gap from (
         select t.sender, min(o.signed_at) as at from operation o join chain_tx t on t.id = o.tx_id
         where o.kind = 'deposit' and o.wallet_id = any(?) group by t.sender, t.id) bundle) gaps`,
    [wallets],
  )
  return rows[0].ms
}

type Measured = { alone: Times[]; posted: Times[]; 'worked off': Times[] }
/** `left`: how many intents of each flood were not over when the few were. */
type Beside = { bundleMs: number; left: number[] }

function report(measured: Measured, { bundleMs, left }: Beside): void {
  const of = (times: Times[], stage: keyof Times, share: number) =>
    Math.round(
      quantile(
        times.map((one) => one[stage]),
        share,
      ),
    )
  const rows = stages.map((stage) => ({
    'ms since POST': stage,
    ...Object.fromEntries(
      Object.entries(measured).flatMap(([when, times]) => [
        [`${when} p50`, of(times, stage, 0.5)],
        [`${when} p95`, of(times, stage, 0.95)],
      ]),
    ),
  }))
  console.table(rows)
  const { alone, ...beside } = measured
  const most = of(alone, 'done', 0.95) * (1 + MOST_GROWTH) + bundleMs
  for (const [when, times] of Object.entries(beside)) {
    const moved = of(times, 'done', 0.95)
    console.log(
      `${times.length} while a flood of ${FLOOD} is ${when}: p95 ${moved} ms, ` +
        `at most ${Math.round(most)} (a bundle more: ${Math.round(bundleMs)})`,
    )
    if (moved > most) process.exitCode = 1
  }
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores.`)
  console.log(`Of the floods ${left.join(' and ')} intents were left.`)
  if (left.every((count) => count > 0)) return
  console.log('A flood was over before: send a greater one.')
  process.exitCode = 1
}
