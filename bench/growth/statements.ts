import { PLAN_ONCE } from '../../db/client/prepared.js'
import { confirmUpTo, finalizeUpTo } from '../../operations/indexing/indexedBlocks.js'
import { setMined } from '../../operations/indexing/outcomes.js'
import { rollBack } from '../../operations/indexing/rollBack.js'
import {
  findOperationsByKey,
  findSpentOperations,
  readOpenSends,
} from '../../operations/indexing/watched.js'
import { findOpenBurns } from '../../operations/burns.js'
import { sumCosts, sumMoved } from '../../operations/signing/senderGas.js'
import { readReservedAmounts } from '../../db/intents/reservedAmounts.js'
import { readReservedInMarkets } from '../../db/intents/reservations.js'
import { findStuck } from '../../operations/signing/replacing.js'
import { areOthersWaiting, pruneSignedAmounts } from '../../operations/signing/signedAmounts.js'
import { readContenders } from '../../operations/signing/contending.js'
import { readSignedFundings } from '../../operations/signing/treasury.js'
import { readOpenFundings } from '../../db/intents/fundings.js'
import { claimOperations } from '../../operations/signing/claiming.js'
import { lockEnded, lockIntents, reconsiderIntents } from '../../operations/indexing/reopened.js'
import { findDone, findLingering, findReopened } from '../../db/intents/sweeping.js'
import { claimStarts } from '../../db/intents/starting.js'
import { deleteExpiredKeys } from '../../db/accounts/idempotency.js'
import { deleteExpiredTokens } from '../../db/accounts/readTokens.js'
import { deleteOldDeliveries } from '../../db/webhooks/sending.js'
import type { Db } from '../../db/client/connect.js'
import type { Filled } from './fill.js'
import type { Sender } from '../../operations/signing/signing.js'

export type BenchRole = 'api' | 'worker' | 'relayer' | 'signer'
/** A database statement of a process outside of API calls. It runs in a transaction that is rolled back. */
export type BenchStatement = {
  name: string
  role: BenchRole
  /** First statement of the transaction, for example a setting. It is not timed. */
  begin?: string
  run(trx: Db, filled: Filled): Promise<unknown>
}

const CHAIN = 421_614
const DISPATCH = 'select * from dispatch_webhooks(500)'
const sender = (name: string): Sender => ({
  ...{ chainId: BigInt(CHAIN), address: name, kekId: '', sealedKey: Buffer.of() },
  purpose: 'operations',
})
const block = (number: bigint) => ({ number, hash: `0x${number}` })
/** Blocks of `rows.ts`: open operations are in the first one, above the finalized one. */
const MINED = block(999_999_990n)
const FINAL = block(999_999_980n)
const INDEXED = { number: 1_000_000_000n, hash: '0xbooked' }
const indexing = ['op_live_4', 'op_live_8', 'op_live_12', 'op_live_16', 'op_live_20']

async function index(trx: Db): Promise<void> {
  const mined = indexing.map((id, logIndex) => ({
    ...{ id, success: true, txHash: '0xnew', block: MINED, logIndex, gasUsed: 200_000n },
    ...{ gasCostUsd: 0.02, units: 1_000_000n, messageSent: undefined, refusal: undefined },
  }))
  await findOperationsByKey(trx, CHAIN, indexing)
  const ended = await lockEnded(trx, CHAIN, { mined, confirmed: MINED.number })
  await confirmUpTo(trx, CHAIN, { block: MINED.number, except: indexing })
  await setMined(trx, mined, MINED.number)
  await finalizeUpTo(trx, CHAIN, MINED)
  await reconsiderIntents(trx, ended)
}

export const statements: readonly BenchStatement[] = [
  {
    ...{ name: 'take', role: 'signer', begin: PLAN_ONCE },
    run: (trx) => claimOperations(trx, { ...sender('0xlane0'), lateSeconds: 60 }, 'bench'),
  },
  { name: 'refills of a day', role: 'signer', run: (trx) => sumMoved(trx, sender('0xtreasury')) },
  {
    name: 'stuck transactions',
    role: 'signer',
    run: (trx) => findStuck(trx, CHAIN, { seconds: 30, blocks: 3 }),
  },
  { name: 'index a block', role: 'relayer', run: index },
  { name: 'hold intents', role: 'relayer', run: (trx) => lockIntents(trx, indexing) },
  {
    name: 'a reorg',
    role: 'relayer',
    run: (trx) => rollBack(trx, CHAIN, { from: INDEXED, to: FINAL }),
  },
  { name: 'open burns', role: 'relayer', run: findOpenBurns },
  {
    name: 'claim starts',
    role: 'worker',
    run: (trx) => claimStarts(trx, 'intent', { limit: 8 }),
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
  { name: 'open sends', role: 'relayer', run: (trx) => readOpenSends(trx, CHAIN) },
  { name: 'keys that are used', role: 'relayer', run: (trx) => findSpentOperations(trx, CHAIN) },
  {
    name: 'signed fundings',
    role: 'signer',
    run: (trx) => readSignedFundings(trx, { chainId: CHAIN, block: MINED.number }),
  },
  {
    name: 'costs of a sender',
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
    name: 'reserved in a market',
    role: 'worker',
    run: (trx) =>
      readReservedInMarkets(trx, [{ chainId: CHAIN, markets: ['0x01'], token: '0xusdc' }]),
  },
  {
    name: 'what a wallet has reserved',
    role: 'worker',
    run: (trx, { busiest }) =>
      readReservedAmounts(trx, busiest, {
        ...{
          blocks: [],
          tokens: [{ token: '0xusdc', at: { chainId: BigInt(CHAIN), ...INDEXED } }],
        },
        ...{ capacities: [], markets: [{ chainId: CHAIN, market: '0x01' }] },
      }),
  },
]
