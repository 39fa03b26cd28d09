import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidRequestError } from '@steward/sdk'
import { pauseWork, resumeWork } from '../../db/pauses.js'
import { assetUnits } from '../../domain/money.js'
import { mintToken } from '../devnet/deploy.js'
import { UserError } from '../terminal.js'
import type { CreateIntentParams, Intent, Steward, Wallet } from '@steward/sdk'
import type { Db } from '../../db/client/connect.js'
import type { ChainName } from '../../evm/registry.js'
import type { Devnet } from '../state/openDevnet.js'
import type { UserAction } from './scenario.js'

const POLL_MS = 100
/** An intent over a bridge takes 3 s. A busy machine needs far longer. */
const TIMEOUT_MS = 180_000
/** Seconds for which the API holds a read of an intent. */
const WAIT_S = 20

const order = { by: 'sample data', why: 'An example of a frozen wallet.' }

type SampleTools = { steward: Steward; db: Db; devnet: Devnet }

/** A user's wallet and their last failed intent. */
type SampleUser = { wallet: Wallet; failed: Intent | undefined }

/** Returns a function that performs an action of a user and resolves when its effects are there. */
export function createPerformer(tools: SampleTools): (action: UserAction) => Promise<void> {
  const users = new Map<string, SampleUser>()
  const { steward } = tools

  async function userOf(userId: string): Promise<SampleUser> {
    const known = users.get(userId)
    if (known) return known
    const wallet = await steward.wallets.create({ userId, metadata: { source: 'sample' } })
    const user = { wallet, failed: undefined }
    users.set(userId, user)
    await steward.demo.waitForCompletion((await steward.demo.fund(wallet.id)).id)
    return user
  }

  return async function perform(action: UserAction): Promise<void> {
    const user = await userOf(action.user)
    const { wallet } = user
    if ('receives' in action)
      return mint(tools, wallet, { amount: action.receives, chain: action.on })
    if ('cancels' in action) return cancel(tools, { ...action.cancels, walletId: wallet.id })
    if ('waits' in action) {
      await createAndFreeze(tools, { ...action.waits, walletId: wallet.id })
      return
    }
    const isRetry = 'retries' in action
    const created = isRetry
      ? await steward.intents.retry(user.failed?.id ?? '')
      : await steward.intents.create({ ...action.creates, walletId: wallet.id })
    const ended = await untilEnded(steward, created)
    if (ended.status === 'failed') user.failed = ended
    await steward.positions.get(wallet.id)
  }
}

/** Mints money and waits until the API shows it. */
async function mint(
  { steward, devnet: { facts, contracts } }: SampleTools,
  { id, address }: Wallet,
  { amount, chain }: { amount: string; chain: ChainName },
): Promise<void> {
  const before = await readTotal(steward, id)
  const minted = { holder: address, units: assetUnits(amount) }
  await mintToken(facts.rpcUrls[chain], contracts[chain].usdc, minted)
  await poll(async () => (await readTotal(steward, id)) > before)
}

const readTotal = async ({ balances }: Steward, walletId: string) =>
  (await balances.get(walletId)).totalValueUsd ?? 0

/**
 * Creates an intent over a bridge and freezes its wallet while the money is in the bridge. The money arrives, and the
 * deposit waits.
 */
async function createAndFreeze(
  { steward: { intents }, db, devnet }: SampleTools,
  params: CreateIntentParams,
): Promise<Intent> {
  await setStuck(devnet, { stuck: true })
  const created = await intents.create(params)
  await poll(async () => ((await intents.get(created.id)).results?.transactions ?? []).length > 0)
  await pauseWork(db, { scope: 'wallet', subject: params.walletId }, order)
  await setStuck(devnet, { stuck: false })
  return created
}

/**
 * Lets the bridge hold its money, or deliver it.
 *
 * @throws Error when the attestation service rejects the fault.
 */
export async function setStuck(
  { facts: { attestationUrl } }: Pick<Devnet, 'facts'>,
  fault: { stuck: boolean },
): Promise<void> {
  const request = { method: 'POST', body: JSON.stringify(fault) }
  const { ok, status } = await fetch(`${attestationUrl}/dev/faults`, request)
  if (!ok) throw new Error(`The attestation service answered ${status} to a fault. See its log.`)
}

/** Cancels an intent that waits. While its burned money is in the bridge, the API rejects that. */
async function cancel(tools: SampleTools, params: CreateIntentParams): Promise<void> {
  const { steward, db } = tools
  const { id } = await createAndFreeze(tools, params)
  await poll(async () => {
    const cancelled = await steward.intents.cancel(id).catch((error: unknown) => {
      if (error instanceof InvalidRequestError) return undefined
      throw error
    })
    return cancelled !== undefined
  })
  await resumeWork(db, { scope: 'wallet', subject: params.walletId }, order)
}

async function untilEnded({ intents }: Steward, created: Intent): Promise<Intent> {
  let intent = created
  await poll(async () => {
    intent = await intents.get(created.id, { wait: WAIT_S })
    return intent.status === 'completed' || intent.status === 'failed'
  })
  return intent
}

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS
  while (!(await isDone())) {
    if (Date.now() > deadline)
      throw new UserError('The sample data does not progress. See the logs.')
    await sleep(POLL_MS)
  }
}
