import { randomBytes } from 'node:crypto'
import { awaitFunding } from './commands/fund.js'
import { CommandError, exitCodes } from './exit.js'
import { tailEvents } from './webhooks/tail.js'
import { walletIdOf } from './options.js'
import type { Intent, Wallet } from '@steward/sdk'
import type { Session } from './session.js'

/** What is used to make an event happen. `wallet`: a wallet that is there already, else a new one is made. */
export type Means = { wallet?: string; webhook?: string; timeoutMs: number }

/** What was made on the way, as programs read it. */
export type Made = {
  event: string
  walletId?: string
  fundingId?: string
  intentId?: string
  deliveryId?: string
}

type Recipe = { how: string; make(session: Session, event: string, means: Means): Promise<Made> }

const FUNDED = 'arbitrum-sepolia'
const AMOUNT = '1'

const lends: Recipe = {
  how: 'a wallet gets 1 USDC of test money and lends it',
  make: makeIntent((session, walletId) =>
    session.steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED }),
  ),
}
const bridge = (session: Session, walletId: string, metadata?: { simulate: string }) =>
  session.steward.intents.bridge({
    ...{ walletId, amount: AMOUNT, fromChain: FUNDED, toChain: 'base-sepolia' },
    ...(metadata && { metadata }),
  })

/** What can be made to happen for real, and how. */
export const recipes: Record<string, Recipe> = {
  'wallet.created': { how: 'a wallet is made', make: makeWalletOnly },
  'wallet.funded': { how: 'a wallet gets 1 USDC of test money', make: makeFunded },
  'intent.created': lends,
  'intent.planned': lends,
  'intent.executing': lends,
  'intent.step_started': lends,
  'intent.step_completed': lends,
  'intent.completed': lends,
  'intent.step_progressed': {
    how: 'a wallet gets 1 USDC of test money and bridges it',
    make: makeIntent((session, walletId) => bridge(session, walletId)),
  },
  'intent.failed': {
    how: 'a lend whose deposit is made to fail',
    make: makeIntent(({ steward }, walletId) => {
      const metadata = { simulate: 'DEPOSIT_FAILED' }
      return steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED, metadata })
    }),
  },
  'intent.recovered': {
    how: 'a bridge that is given up, and whose money comes out all the same',
    make: makeIntent((session, walletId) =>
      bridge(session, walletId, { simulate: 'BRIDGE_TIMEOUT' }),
    ),
  },
  'intent.cancelled': {
    how: 'a lend that is cancelled before it is signed',
    make: makeIntent(cancelAtOnce),
  },
  'webhook.test': { how: 'the service sends it to an endpoint: --webhook <id>', make: sendTest },
}

/** What nobody can make happen by calls, and why. */
export const impossible: Record<string, string> = {
  'intent.delayed': 'a bridge must be late for that',
  'intent.delay_over': 'a bridge must be late for that',
  'intent.step_failed': 'a chain must refuse a transaction for that',
  'intent.step_reverted': 'a chain must reorganise for that',
  'intent.reopened': 'a chain must reorganise for that',
  'webhook.disabled': 'an endpoint must fail for three days for that',
  'credits.low': 'the credits of the account must be nearly used up for that',
  'credits.exhausted': 'the credits of the account must be used up for that',
}

async function makeWallet({ steward }: Session): Promise<Wallet> {
  return steward.wallets.create({ userId: `trigger-${randomBytes(4).toString('hex')}` })
}

async function makeWalletOnly(session: Session, event: string): Promise<Made> {
  return { event, walletId: (await makeWallet(session)).id }
}

async function makeFunded(session: Session, event: string, means: Means) {
  const walletId =
    means.wallet === undefined
      ? (await makeWallet(session)).id
      : await walletIdOf(session, means.wallet)
  session.say.note(`  ${walletId} gets 1 USDC of test money …`)
  const begun = await session.steward.demo.fund(walletId)
  const funding = await awaitFunding(session, begun, means.timeoutMs)
  if (funding.status === 'completed') return { event, walletId, fundingId: funding.id }
  throw new CommandError(exitCodes.failed, `The test money was not sent (${funding.id}).`)
}

function makeIntent(create: (session: Session, walletId: string) => Promise<Intent>) {
  return async (session: Session, event: string, means: Means): Promise<Made> => {
    const made = await makeFunded(session, event, means)
    const { id } = await create(session, made.walletId)
    session.say.note(`  ${id} is created, ${event} follows …`)
    await untilTold(session, { intentId: id, event, timeoutMs: means.timeoutMs })
    return { ...made, intentId: id }
  }
}

/** Whoever is too late is told so: then it was signed already. */
async function cancelAtOnce({ steward }: Session, walletId: string): Promise<Intent> {
  const { id } = await steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED })
  return steward.intents.cancel(id)
}

const ends = ['intent.completed', 'intent.failed', 'intent.cancelled']
type Wanted = { intentId: string; event: string; timeoutMs: number }

/** @throws {CommandError} when the intent ends in another way, or the time is over. */
async function untilTold(session: Session, { intentId, event, timeoutMs }: Wanted): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs)
  const interrupted = AbortSignal.any([session.io.interrupted, late])
  const filter = { intentId, type: [event, ...ends], after: 'evt_0' }
  let last = ''
  await tailEvents({ ...session, io: { ...session.io, interrupted } }, filter, ({ type }) => {
    last = type
    // Given up, its money comes out later.
    const isOver = ends.includes(type) && event !== 'intent.recovered'
    return type !== event && !isOver
  })
  if (last === event) return
  if (session.io.interrupted.aborted) throw new CommandError(exitCodes.interrupted, '')
  if (late.aborted) throw new CommandError(exitCodes.timeout, `${event} has not come yet.`)
  throw new CommandError(exitCodes.failed, `It ended with ${last} instead: ${intentId}.`)
}

async function sendTest(session: Session, event: string, { webhook }: Means): Promise<Made> {
  if (webhook === undefined) {
    const hint = 'Endpoints there are: steward webhooks list'
    throw new CommandError(exitCodes.usage, 'Say to which endpoint: --webhook <id>', [hint])
  }
  const { id } = await session.steward.webhooks.test(webhook)
  return { event, deliveryId: id }
}
