import { newId } from '../../../db/client/ids.js'
import { connect } from '../../../db/client/connect.js'
import { createApiKey, type Scope } from '../../../db/accounts/accounts.js'
import { setExecuting, setFailed } from '../../../db/intents/status.js'
import { insertTestIntent, insertTestWallet, setCompleted, type TestWallet } from '../../db/rows.js'
import { silentChains } from '../../planning/chains.js'
import { startApi, startWorld } from '../../api/api.js'
import { startControl, type Deeds } from './control.js'
import { startLossyProxy } from './lossyProxy.js'
import type { IntentFailure } from '../../../domain/intent/intent.js'

export type SdkWorld = {
  /** Environment of the tests. */
  env: Record<string, string>
  stop(): Promise<void>
}

const streamLimits = { pollMs: 200 }

/** The API over Postgres, behind a proxy that loses answers, with chains that are silent; and what tests do to it. */
export async function startSdkWorld(): Promise<SdkWorld> {
  const chains = silentChains()
  const world = await startWorld(chains, { streamLimits })
  const { db, urlAs } = world.database
  const worker = connect(urlAs('steward_worker'), 6)
  const target = { port: world.api.port }
  let api = world.api
  const proxy = await startLossyProxy(target)
  const wallets = new Map<string, TestWallet>()
  const walletOf = (id: unknown) => {
    const wallet = wallets.get(String(id))
    if (!wallet) throw new Error(`There is no wallet ${String(id)}.`)
    return wallet
  }
  const restart = async () => {
    const listenUrl = urlAs('steward_api')
    const temporal = world.temporal.client
    api = await startApi({ db: world.db, temporal, listenUrl, streamLimits, ...chains })
    target.port = api.port
  }

  const moves = {
    executing: (id: string) => setExecuting(worker, id),
    completed: (id: string) => setCompleted(worker, id),
    failed: (id: string, error: IntentFailure) => setFailed(worker, id, error),
  }

  const deeds: Deeds = {
    /** A customer with a wallet and a key; `rpm`: allowed requests per minute. */
    async account({ rpm = 100_000, scopes = ['read', 'write'] }) {
      const wallet = await insertTestWallet(db)
      wallets.set(wallet.id, wallet)
      const limits = { rpm, monthly_credits: 1_000_000 }
      await db('account').where({ id: wallet.accountId }).update(limits)
      const options = { name: 'test', scopes: scopes as Scope[] }
      const key = await createApiKey(db, wallet.accountId, options)
      return { key, walletId: wallet.id }
    },
    intent: ({ walletId }) => insertTestIntent(db, walletOf(walletId), 'planning'),
    /** Many intents of a wallet, the oldest first. */
    async intents({ walletId, count }) {
      const { accountId } = walletOf(walletId)
      const rows = Array.from({ length: Number(count) }, () => ({
        ...{ id: newId('intent_'), account_id: accountId, wallet_id: walletId, action: 'lend' },
        ...{ asset: 'USDC', units: '1000000', status: 'pending', request_id: 'req_test' },
      }))
      await db.batchInsert('intent', rows, 500)
      return rows.map(({ id }) => id)
    },
    async move({ intentId, to, error }) {
      await moves[to as keyof typeof moves](String(intentId), error as IntentFailure)
    },
    /** The API ends, and comes again after so many have tried in vain to reach it. */
    async outage({ refusals }) {
      await api.stop()
      proxy.afterRefusals(Number(refusals), () => void restart())
    },
    loseAnswers({ start, count }) {
      proxy.loseAnswers(String(start), Number(count))
      return Promise.resolve()
    },
    lost: () => Promise.resolve(proxy.lost()),
    /** A new minute begins for an account. */
    async openWindow({ walletId }) {
      const { accountId } = walletOf(walletId)
      await db('account').where({ id: accountId }).update({ win: 0, win_used: 0 })
    },
    /** What an account has, and has paid for. */
    async indexes({ walletId }) {
      const { accountId } = walletOf(walletId)
      const own = { account_id: accountId }
      const intents = await db('intent').where(own).orderBy('id').select('id', 'units')
      const charges = await db('ledger').where(own).where('delta', '<', 0).select('delta')
      return {
        intents: intents.map(({ id, units }) => ({ id: String(id), units: String(units) })),
        charges: charges.map(({ delta }) => Number(delta)),
      }
    },
  }
  const control = await startControl(deeds)
  return {
    env: { STEWARD_BASE_URL: `http://127.0.0.1:${proxy.port}/v1`, CONTROL_URL: control.url },
    async stop() {
      await control.stop()
      await proxy.stop()
      await api.stop()
      await worker.destroy()
      await world.stop()
    },
  }
}
