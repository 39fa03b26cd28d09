import { newId } from '../../../db/client/ids.js'
import { connect } from '../../../db/client/connect.js'
import { createApiKey, type Scope } from '../../../db/accounts/accounts.js'
import { setExecuting, setFailed } from '../../../db/intents/status.js'
import { insertTestIntent, insertTestWallet, setCompleted, type TestWallet } from '../../db/rows.js'
import { silentChains } from '../../planning/chains.js'
import { startApi, startWorld } from '../../api/api.js'
import { startControl, type ControlCommands } from './control.js'
import { startLossyProxy } from './lossyProxy.js'
import type { IntentFailure } from '../../../domain/intent/intent.js'

export type SdkWorld = {
  /** Environment of the tests. */
  env: Record<string, string>
  stop(): Promise<void>
}

const streamLimits = { pollMs: 200 }

/** Starts the API on Postgres behind a proxy that loses responses, with chains that do not respond, and the test control. */
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
    if (!wallet) throw new Error(`Wallet ${String(id)} does not exist.`)
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

  const commands: ControlCommands = {
    /** Creates an account with a wallet and a key. `rpm` is its limit of requests per minute. */
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
    /** Inserts intents of a wallet and returns their ids, oldest first. */
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
    /** Stops the API and restarts it after `refusals` refused connections. */
    async outage({ refusals }) {
      await api.stop()
      proxy.afterRefusals(Number(refusals), () => void restart())
    },
    loseAnswers({ start, count }) {
      proxy.loseAnswers(String(start), Number(count))
      return Promise.resolve()
    },
    lost: () => Promise.resolve(proxy.lost()),
    /** Resets the rate limit of an account. */
    async resetRateLimit({ walletId }) {
      const { accountId } = walletOf(walletId)
      await db('account').where({ id: accountId }).update({ win: 0, win_used: 0 })
    },
    /** Returns the stored intents of an account and its charges. */
    async stored({ walletId }) {
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
  const control = await startControl(commands)
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
