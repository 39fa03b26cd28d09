import { PLAN_ONCE } from '../../../db/connection/prepared.js'
import { scopeTransaction } from '../../../db/connection/scope.js'
import { readEvents } from '../../../db/intents/events.js'
import { listIntents } from '../../../db/intents/listIntents.js'
import { readDeposits } from '../../../db/intents/positions.js'
import { findActiveKek } from '../../../db/keys.js'
import { confirmUpTo, finalizeUpTo } from '../../../db/lanes/booking.js'
import { setMined } from '../../../db/lanes/outcomes.js'
import { rollBack } from '../../../db/lanes/rollBack.js'
import {
  findOperationsByKey,
  findSpentOperations,
  readOpenSends,
} from '../../../db/lanes/watched.js'
import { findOpenBurns } from '../../../db/lanes/burns.js'
import { sumCosts, sumMoved } from '../../../db/lanes/gas.js'
import { readClaims } from '../../../db/lanes/claims.js'
import { readPromised } from '../../../db/lanes/reservations.js'
import { findStuck } from '../../../db/lanes/replacing.js'
import { areOthersWaiting, pruneSignedAmounts } from '../../../db/lanes/signedAmounts.js'
import { readContenders } from '../../../db/lanes/contending.js'
import { readSignedFundings } from '../../../db/lanes/treasury.js'
import { readOpenFundings } from '../../../db/intents/fundings.js'
import { takeOperations } from '../../../db/lanes/taking.js'
import { holdEnded, holdIntents, reconsiderIntents } from '../../../db/lanes/turned.js'
import { findDone, findLingering, findReopened } from '../../../db/intents/sweeping.js'
import { claimStarts } from '../../../db/intents/starting.js'
import { deleteExpiredKeys } from '../../../db/tenants/idempotency.js'
import { deleteExpiredTokens } from '../../../db/tenants/readTokens.js'
import { sumLent } from '../../../db/tenants/overview.js'
import { listRequests } from '../../../db/tenants/listRequests.js'
import { insertWallet, listWallets, newWalletId } from '../../../db/tenants/wallets.js'
import { listDeliveries } from '../../../db/webhooks/deliveries.js'
import { deleteOldDeliveries } from '../../../db/webhooks/sending.js'
import type { Db } from '../../../db/connection/connect.js'
import type { Filled } from './fill.js'
import type { Lane } from '../../../db/lanes/signing.js'

export type Role = 'api' | 'worker' | 'lanes' | 'signer'
/** What processes ask the database beside calls. It is done in a transaction that is rolled back. */
export type Statement = {
  name: string
  role: Role
  /** What the transaction is told first, as where it runs. It is not timed. */
  begin?: string
  run(trx: Db, filled: Filled): Promise<unknown>
}

const CHAIN = 421_614
const DISPATCH = 'select * from dispatch_webhooks(500)'
const sender = (name: string): Lane => ({
  ...{ chainId: BigInt(CHAIN), sender: name, kekId: '', sealedKey: Buffer.of() },
  purpose: 'operations',
})
const block = (number: bigint) => ({ number, hash: `0x${number}` })
/** Blocks of `rows.ts`: what is under way is in the first one, above the finalized one. */
const MINED = block(999_999_990n)
const FINAL = block(999_999_980n)
const BOOKED = { number: 1_000_000_000n, hash: '0xbooked' }
const booking = ['op_live_4', 'op_live_8', 'op_live_12', 'op_live_16', 'op_live_20']

async function book(trx: Db): Promise<void> {
  const mined = booking.map((id, logIndex) => ({
    ...{ id, success: true, txHash: '0xnew', block: MINED, logIndex, gasUsed: 200_000n },
    ...{ gasCostUsd: 0.02, units: 1_000_000n, messageSent: undefined, refusal: undefined },
  }))
  await findOperationsByKey(trx, CHAIN, booking)
  const told = await holdEnded(trx, CHAIN, { mined, confirmed: MINED.number })
  await confirmUpTo(trx, CHAIN, { block: MINED.number, except: booking })
  await setMined(trx, mined, MINED.number)
  await finalizeUpTo(trx, CHAIN, MINED)
  await reconsiderIntents(trx, told)
}

export const statements: readonly Statement[] = [
  {
    ...{ name: 'take', role: 'signer', begin: PLAN_ONCE },
    run: (trx) => takeOperations(trx, { ...sender('0xlane0'), lateSeconds: 60 }, 'bench'),
  },
  { name: 'refills of a day', role: 'signer', run: (trx) => sumMoved(trx, sender('0xtreasury')) },
  {
    name: 'stuck transactions',
    role: 'signer',
    run: (trx) => findStuck(trx, CHAIN, { seconds: 30, blocks: 3 }),
  },
  { name: 'book a block', role: 'lanes', run: book },
  { name: 'hold intents', role: 'lanes', run: (trx) => holdIntents(trx, booking) },
  {
    name: 'a reorg',
    role: 'lanes',
    run: (trx) => rollBack(trx, CHAIN, { from: BOOKED, to: FINAL }),
  },
  { name: 'open burns', role: 'lanes', run: findOpenBurns },
  {
    name: 'claim starts',
    role: 'worker',
    run: (trx) => claimStarts(trx, 'intent', 8),
  },
  { name: 'sweep reopened', role: 'worker', run: (trx) => findReopened(trx, 100) },
  {
    name: 'sweep done',
    role: 'worker',
    run: (trx) => findDone(trx, { forMs: 3_000, limit: 100 }),
  },
  {
    name: 'sweep lingering',
    role: 'worker',
    run: (trx) => findLingering(trx, 60_000, { after: '', limit: 100 }),
  },
  { name: 'sweep keys', role: 'worker', run: (trx) => deleteExpiredKeys(trx, 1_000) },
  { name: 'sweep tokens', role: 'worker', run: (trx) => deleteExpiredTokens(trx, 1_000) },
  { name: 'sweep amounts', role: 'worker', run: (trx) => pruneSignedAmounts(trx, 1_000) },
  { name: 'sweep deliveries', role: 'worker', run: (trx) => deleteOldDeliveries(trx, 1_000) },
  { name: 'dispatch webhooks', role: 'worker', run: (trx) => trx.raw(DISPATCH) },
  { name: 'open sends', role: 'lanes', run: (trx) => readOpenSends(trx, CHAIN) },
  { name: 'keys that are used', role: 'lanes', run: (trx) => findSpentOperations(trx, CHAIN) },
  {
    name: 'signed fundings',
    role: 'signer',
    run: (trx) => readSignedFundings(trx, { chainId: CHAIN, block: MINED.number }),
  },
  {
    name: 'costs of a lane',
    role: 'signer',
    run: (trx) => sumCosts(trx, sender('0xlane0'), 200_000_000n),
  },
  {
    name: 'contenders',
    role: 'signer',
    run: (trx) =>
      readContenders(trx, {
        ...{ chainId: CHAIN, resources: ['deposit:0x01'], head: MINED.number, ids: [] },
      }),
  },
  {
    name: 'others that wait for a limit',
    role: 'signer',
    run: (trx) => areOthersWaiting(trx, 'op_live_4', {}),
  },
  {
    name: 'open fundings of a wallet',
    role: 'worker',
    run: (trx, { busiest }) => readOpenFundings(trx, busiest),
  },
  {
    name: 'what is promised to a market',
    role: 'worker',
    run: (trx) => readPromised(trx, [{ chainId: CHAIN, markets: ['0x01'], token: '0xusdc' }]),
  },
  {
    name: 'what a wallet has reserved',
    role: 'worker',
    run: (trx, { busiest }) =>
      readClaims(trx, busiest, {
        ...{ blocks: [], purses: [{ token: '0xusdc', at: { chainId: BigInt(CHAIN), ...BOOKED } }] },
        ...{ rooms: [], markets: [{ chainId: CHAIN, market: '0x01' }] },
      }),
  },
]

const ACCOUNT = 'acct_0'
const slice = { limit: 20 }
const everything = {
  ...{ walletId: undefined, statuses: undefined, action: undefined },
  ...{ createdAfter: undefined, createdBefore: undefined, slice },
}

const asked: Omit<Statement, 'role'>[] = [
  { name: 'intents', run: (trx) => listIntents(trx, ACCOUNT, everything) },
  {
    name: 'intents of a wallet',
    run: (trx, { busiest }) => listIntents(trx, ACCOUNT, { ...everything, walletId: busiest }),
  },
  {
    name: 'intents of a status that few have',
    run: (trx) => listIntents(trx, ACCOUNT, { ...everything, statuses: ['pending', 'executing'] }),
  },
  {
    name: 'intents of an action that none has',
    run: (trx) => listIntents(trx, ACCOUNT, { ...everything, action: 'bridge' }),
  },
  { name: 'wallets', run: (trx) => listWallets(trx, ACCOUNT, { userId: undefined, slice }) },
  { name: 'deposits of a wallet', run: (trx, { busiest }) => readDeposits(trx, ACCOUNT, busiest) },
  { name: 'what an account has lent', run: (trx) => sumLent(trx, ACCOUNT) },
  {
    name: 'events of types that are rare',
    run: (trx) => readEvents(trx, ACCOUNT, { types: ['delayed', 'recovered'], limit: 20 }),
  },
  {
    name: 'deliveries that failed',
    run: (trx, { webhook }) =>
      listDeliveries(trx, { accountId: ACCOUNT, webhookId: webhook }, { status: 'failed', slice }),
  },
  {
    name: 'requests with an error',
    run: (trx) => listRequests(trx, ACCOUNT, { code: 'INVALID_REQUEST', slice }),
  },
  {
    name: 'requests of a path that is rare',
    run: (trx) => listRequests(trx, ACCOUNT, { path: '/v1/webhooks', slice }),
  },
  {
    name: 'requests of another caller',
    run: (trx) => listRequests(trx, ACCOUNT, { callerId: 'key_other', slice }),
  },
  { name: 'a wallet more', run: insertOne },
]
/** What calls ask the database, where there may be much to look through. */
export const reads: readonly Statement[] = asked.map((one) => ({ ...one, role: 'api' }))

async function insertOne(trx: Db): Promise<void> {
  await scopeTransaction(trx, ACCOUNT)
  const id = newWalletId()
  const kek = await findActiveKek(trx)
  await insertWallet(
    trx,
    { ...{ id, accountId: ACCOUNT, userId: id, address: id }, metadata: {} },
    { kekId: kek?.id ?? '', sealed: Buffer.of(0) },
  )
}
