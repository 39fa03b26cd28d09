import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { Steward } from '@steward/sdk'
import { keyDigest } from '../../db/accounts/accounts.js'
import { connect, type Db } from '../../db/client/connect.js'
import { advanceClock } from '../clock/advance.js'
import { UserError, say, sayDone, sign } from '../terminal.js'
import { createKeys, createWebhooks, startReceiver } from './account.js'
import { createPerformer } from './users.js'
import { scenario, type ScenarioDay } from './scenario.js'
import { insertTimeSeries } from './timeSeries.js'
import { startBackdatedApi, type BackdatedApi } from './backdatedApi.js'
import type { Context } from '../context.js'
import type { Devnet } from '../state/openDevnet.js'

/** Ten seconds. Deliveries follow their events within one. */
const [DELIVERY_TRIES, DELIVERY_POLL_MS] = [40, 250]

const START_OVER = 'Start over with: npm start -- --fresh --sample-data'

/**
 * Fills the demo account with a month of true history: users lend, withdraw and bridge through the API on the devnet,
 * and days pass in between. Does nothing when the state has the sample data already.
 *
 * @throws {UserError} when the state holds other wallets, or sample data that was interrupted.
 */
export async function addSampleData(context: Context, devnet: Devnet): Promise<void> {
  const db = connect(devnet.facts.databaseUrl, 2)
  try {
    const state = await readState(db)
    if (state === 'complete') return say(`  ${sign.done} The sample data is there already.\n`)
    if (state === 'other') throw new UserError(`Sample data needs an empty state. ${START_OVER}`)
    if (state === 'begun') throw new UserError(`The sample data is incomplete. ${START_OVER}`)
    say(`  ${pc.bold('Sample data')} ${pc.dim('a month of six users, in about a minute')}\n`)
    await mark(db, 'begun')
    await writeHistory(context, devnet, db)
    await mark(db, 'complete')
    say()
  } finally {
    await db.destroy()
  }
}

async function writeHistory(context: Context, devnet: Devnet, db: Db): Promise<void> {
  const { facts } = devnet
  const [accountId = ''] = await db('api_key')
    .where({ key_hash: keyDigest(facts.apiKey) ?? null })
    .pluck<string[]>('account_id')
  const receiver = await startReceiver()
  const api = await startBackdatedApi(context, facts).catch((error: unknown) => {
    receiver.stop()
    throw error
  })
  const stop = () => void api.stop()
  context.signal.addEventListener('abort', stop)
  try {
    const steward = new Steward({ apiKey: await createKeys(db, accountId), baseUrl: api.baseUrl })
    const perform = createPerformer({ steward, db, devnet })
    const run = { api, perform, pass: (days: number) => passDays(devnet, days) }
    await api.setAge(scenario[0]?.daysAgo ?? 0)
    const webhooks = await createWebhooks(steward, receiver.url)
    for (const [i, day] of scenario.entries()) await runDay(run, day, scenario[i + 1])
    await insertTimeSeries(db, accountId)
    await untilDelivered(db)
    // Their receiver ends with the sample data.
    for (const id of webhooks) await steward.webhooks.update(id, { status: 'disabled' })
  } finally {
    context.signal.removeEventListener('abort', stop)
    receiver.stop()
    await api.stop()
  }
}

type Run = {
  api: BackdatedApi
  perform: ReturnType<typeof createPerformer>
  pass(days: number): Promise<void>
}

/** @throws {UserError} when the days of an interrupted advance have passed instead. */
export async function passDays(devnet: Devnet, days: number): Promise<void> {
  const { wasInterrupted } = await advanceClock(devnet, days)
  if (!wasInterrupted) return
  throw new UserError(`The days of an interrupted advance have passed instead. ${START_OVER}`)
}

async function runDay(
  { api, perform, pass }: Run,
  { daysAgo, actions }: ScenarioDay,
  next: ScenarioDay | undefined,
): Promise<void> {
  const begun = Date.now()
  await api.setAge(daysAgo)
  const users = [...new Set(actions.map(({ user }) => user))]
  await Promise.all(
    users.map(async (user) => {
      for (const action of actions.filter((each) => each.user === user)) await perform(action)
    }),
  )
  if (next) await pass(daysAgo - next.daysAgo)
  sayDone(`${daysAgo} d ago`, users.join(', '), Date.now() - begun)
}

/** Every delivery has had an attempt before the receiver ends. */
async function untilDelivered(db: Db): Promise<void> {
  for (let tries = 0; tries < DELIVERY_TRIES; tries += 1) {
    const open = db('webhook_delivery').where({ status: 'pending', attempts: '[]' })
    if (!(await open.first<{ id: bigint }>('id'))) return
    await sleep(DELIVERY_POLL_MS)
  }
}

type State = 'empty' | 'other' | 'begun' | 'complete'

async function readState(db: Db): Promise<State> {
  if (await db.schema.withSchema('steward_dev').hasTable('sample_data')) {
    const [state] = await db('steward_dev.sample_data').pluck<State[]>('state')
    if (state) return state
  }
  return (await db('wallet').first('id')) ? 'other' : 'empty'
}

async function mark(db: Db, state: State): Promise<void> {
  const table = 'steward_dev.sample_data'
  await db.raw(
    `create table if not exists ${table} (only_row boolean primary key, state text not null)`,
  )
  await db(table).insert({ only_row: true, state }).onConflict('only_row').merge()
}
