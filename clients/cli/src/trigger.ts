import { randomBytes } from 'node:crypto'
import { awaitFunding } from './commands/fund.js'
import { CommandError, exitCodes } from './exit.js'
import { tailEvents } from './webhooks/tail.js'
import { walletIdOf } from './options.js'
import type { Intent, Wallet } from '@steward/sdk'
import type { Session } from './session.js'

/** Inputs of a trigger. `wallet`: an existing wallet; absent, a new one is created. */
export type TriggerOptions = { wallet?: string; webhook?: string; timeoutMs: number }

/** The ids of everything that the trigger created. */
export type Made = {
  event: string
  walletId?: string
  fundingId?: string
  intentId?: string
  deliveryId?: string
}

type Recipe = {
  how: string
  make(session: Session, event: string, means: TriggerOptions): Promise<Made>
}

const FUNDED = 'arbitrum-sepolia'
const AMOUNT = '1'

const lends: Recipe = {
  how: 'funds a wallet with 1 test USDC and lends it',
  make: makeIntent((session, walletId) =>
    session.steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED }),
  ),
}
const bridge = (session: Session, walletId: string, metadata?: { simulate: string }) =>
  session.steward.intents.bridge({
    ...{ walletId, amount: AMOUNT, fromChain: FUNDED, toChain: 'base-sepolia' },
    ...(metadata && { metadata }),
  })

/** Events that can be triggered, and how. */
export const recipes: Record<string, Recipe> = {
  'wallet.created': { how: 'creates a wallet', make: makeWalletOnly },
  'wallet.funded': { how: 'funds a wallet with 1 test USDC', make: makeFunded },
  'intent.created': lends,
  'intent.planned': lends,
  'intent.executing': lends,
  'intent.step_started': lends,
  'intent.step_completed': lends,
  'intent.completed': lends,
  'intent.step_progressed': {
    how: 'funds a wallet with 1 test USDC and bridges it',
    make: makeIntent((session, walletId) => bridge(session, walletId)),
  },
  'intent.failed': {
    how: 'lends with a simulated deposit failure',
    make: makeIntent(({ steward }, walletId) => {
      const metadata = { simulate: 'DEPOSIT_FAILED' }
      return steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED, metadata })
    }),
  },
  'intent.recovered': {
    how: 'bridges with a simulated timeout; the money arrives later',
    make: makeIntent((session, walletId) =>
      bridge(session, walletId, { simulate: 'BRIDGE_TIMEOUT' }),
    ),
  },
  'intent.cancelled': {
    how: 'cancels a lend before it is signed',
    make: makeIntent(cancelAtOnce),
  },
  'webhook.test': { how: 'sends a test event to an endpoint: --webhook <id>', make: sendTest },
}

/** Events that no API call can cause, and why. */
export const impossible: Record<string, string> = {
  'intent.delayed': 'needs a late bridge',
  'intent.delay_over': 'needs a late bridge',
  'intent.step_failed': 'needs a rejected transaction',
  'intent.step_reverted': 'needs a reorg',
  'intent.reopened': 'needs a reorg',
  'webhook.disabled': 'needs an endpoint that fails for three days',
  'credits.low': 'needs an account with few credits left',
  'credits.exhausted': 'needs an account without credits',
}

async function makeWallet({ steward }: Session): Promise<Wallet> {
  return steward.wallets.create({ userId: `trigger-${randomBytes(4).toString('hex')}` })
}

async function makeWalletOnly(session: Session, event: string): Promise<Made> {
  return { event, walletId: (await makeWallet(session)).id }
}

async function makeFunded(session: Session, event: string, means: TriggerOptions) {
  const walletId =
    means.wallet === undefined
      ? (await makeWallet(session)).id
      : await walletIdOf(session, means.wallet)
  session.say.note(`  Funding ${walletId} with 1 test USDC …`)
  const begun = await session.steward.demo.fund(walletId)
  const funding = await awaitFunding(session, begun, means.timeoutMs)
  if (funding.status === 'completed') return { event, walletId, fundingId: funding.id }
  throw new CommandError(exitCodes.failed, `The test money was not sent (${funding.id}).`)
}

function makeIntent(create: (session: Session, walletId: string) => Promise<Intent>) {
  return async (session: Session, event: string, means: TriggerOptions): Promise<Made> => {
    const made = await makeFunded(session, event, means)
    const { id } = await create(session, made.walletId)
    session.say.note(`  ${id} created. Waiting for ${event} …`)
    await waitForEvent(session, { intentId: id, event, timeoutMs: means.timeoutMs })
    return { ...made, intentId: id }
  }
}

/** The API rejects the cancellation when the intent is already signed. */
async function cancelAtOnce({ steward }: Session, walletId: string): Promise<Intent> {
  const { id } = await steward.intents.lend({ walletId, amount: AMOUNT, chain: FUNDED })
  return steward.intents.cancel(id)
}

const ends = ['intent.completed', 'intent.failed', 'intent.cancelled']
type ExpectedEvent = { intentId: string; event: string; timeoutMs: number }

/** @throws {CommandError} when the intent ends with another event, or `timeoutMs` has passed. */
async function waitForEvent(
  session: Session,
  { intentId, event, timeoutMs }: ExpectedEvent,
): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs)
  const interrupted = AbortSignal.any([session.io.interrupted, late])
  const filter = { intentId, type: [event, ...ends], after: 'evt_0' }
  let last = ''
  await tailEvents({ ...session, io: { ...session.io, interrupted } }, filter, ({ type }) => {
    last = type
    // `intent.recovered` follows after the intent has failed.
    const hasEnded = ends.includes(type) && event !== 'intent.recovered'
    return type !== event && !hasEnded
  })
  if (last === event) return
  if (session.io.interrupted.aborted) throw new CommandError(exitCodes.interrupted, '')
  if (late.aborted) throw new CommandError(exitCodes.timeout, `${event} has not arrived yet.`)
  throw new CommandError(exitCodes.failed, `${intentId} ended with ${last} instead of ${event}.`)
}

async function sendTest(
  session: Session,
  event: string,
  { webhook }: TriggerOptions,
): Promise<Made> {
  if (webhook === undefined) {
    const hint = 'List the endpoints: steward webhooks list'
    throw new CommandError(exitCodes.usage, 'webhook.test needs an endpoint. Add --webhook <id>.', [
      hint,
    ])
  }
  const { id } = await session.steward.webhooks.test(webhook)
  return { event, deliveryId: id }
}
