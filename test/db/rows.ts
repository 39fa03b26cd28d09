import { createAccount } from '../../db/accounts/accounts.js'
import { newId } from '../../db/client/ids.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../../db/client/connect.js'
import type { StepPlan, LifecycleStatus } from '../../domain/intent/intent.js'

export type TestWallet = { id: string; accountId: string; address: string; requestId: string }

/** A wallet of a new account, without a key. */
export async function insertTestWallet(
  db: Db,
  address = `0x${newId('')}`,
  plan: Tier = 'pro',
): Promise<TestWallet> {
  const { id: accountId } = await createAccount(db, { name: 'test', plan })
  const id = newId('svc_wallet_')
  await db('wallet').insert({
    ...{ id, account_id: accountId, user_id: 'user', address, metadata: '{}' },
  })
  return { id, accountId, address, requestId: 'req_test' }
}

/** Empties the event log of an account, so that a test does not see the creation of its wallet. */
export async function forgetEvents(db: Db, accountId: string): Promise<void> {
  await db('intent_event').where({ account_id: accountId }).delete()
}

export const testPlan = (amount: string, market = '0x01'): StepPlan => ({
  strategy: 'direct-deposit',
  targetChain: 'arbitrum-sepolia',
  targetProtocol: 'aave-v3',
  expectedApy: 3.51,
  steps: [
    {
      ...{ type: 'deposit', sequence: 1, chain: 'arbitrum-sepolia', protocol: 'aave-v3' },
      ...{ market, asset: 'USDC', amount },
    },
  ],
  estimatedGasUsd: 0.76,
  estimatedTime: '1-5 seconds',
  reasoning: 'test',
})

/** An intent of 1 USDC in the given state, without reservations. */
export async function insertTestIntent(
  db: Db,
  wallet: TestWallet,
  status: LifecycleStatus,
  values: Record<string, unknown> = {},
): Promise<string> {
  const id = await laterId('intent_')
  await db('intent').insert({
    ...{ id, account_id: wallet.accountId, wallet_id: wallet.id, action: 'lend', asset: 'USDC' },
    ...{ units: '1000000', status, request_id: 'req_test' },
    plan: status === 'pending' ? null : JSON.stringify(testPlan('1')),
    ...(status === 'completed' ? { completed_at: new Date() } : {}),
    ...(status === 'failed' ? { error: { code: 'DEPOSIT_FAILED', message: 'test' } } : {}),
    ...(status === 'completed' || status === 'failed' ? { ended_at: new Date() } : {}),
    ...values,
  })
  return id
}

/** Sorts after all earlier ids: ids of one millisecond are in random order. */
async function laterId(prefix: string): Promise<string> {
  const now = Date.now()
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1))
  return newId(prefix)
}

/** Completes an intent without operations. The service completes intents only by their rows, as `completeWhenDone`. */
export async function setCompleted(db: Db, id: string): Promise<void> {
  await db.transaction(async (trx) => {
    // As the owner of the database: no role may complete an intent without evidence.
    await trx.raw(`select set_config('steward.role', current_setting('role'), true)`)
    await trx.raw('set local role none')
    await trx.raw('select transition_intent(?, ?)', [id, 'completed'])
    await trx.raw(`select set_config('role', current_setting('steward.role'), true)`)
  })
}

/** Columns of an operation whose log is indexed. */
export const inBlock = { block_number: 1, block_hash: '0x', tx_hash: '0x', log_index: 0 }

/** An operation of the first step of an intent. */
export async function insertTestOperation(
  db: Db,
  wallet: TestWallet,
  intentId: string,
  values: Record<string, unknown> = {},
): Promise<string> {
  const id = newId('op_')
  await db('operation').insert({
    ...{ id, intent_id: intentId, sequence: 1, kind: 'deposit', chain_id: 421_614, min_block: 0 },
    ...{ account_id: wallet.accountId, wallet_id: wallet.id, chain_key: id },
    ...values,
  })
  return id
}

/** Test money of 1 USDC for a wallet, stored an hour ago. */
export async function insertTestFunding(
  db: Db,
  wallet: TestWallet,
  values: Record<string, unknown> = {},
): Promise<string> {
  const id = newId('fund_')
  await db('funding').insert({
    ...{ id, account_id: wallet.accountId, wallet_id: wallet.id, chain_id: 421_614 },
    ...{ units: '1000000', created_at: new Date(Date.now() - 3_600_000) },
    ...values,
  })
  return id
}

/** Signed amounts of a wallet in dollars, by their age in hours, each in a separate operation. */
export async function insertSigned(
  db: Db,
  wallet: TestWallet,
  { count, hoursAgo }: { count: number; hoursAgo: number },
): Promise<void> {
  const intentId = await insertTestIntent(db, wallet, 'executing')
  await db.raw(
    `with ordered as (
       insert into operation
         (id, intent_id, sequence, kind, account_id, wallet_id, chain_id, chain_key, min_block)
       select :intentId || n, :intentId, n, 'deposit', :accountId, :walletId, 421614, :intentId || n,
         0
       from generate_series(1, :count::int) n returning id)
     insert into signed_amount (operation_id, wallet_id, units, signed_at)
     select id, :walletId, 1000000, clock_timestamp() - :hoursAgo * interval '1 hour' from ordered`,
    { intentId, accountId: wallet.accountId, walletId: wallet.id, count, hoursAgo },
  )
}
