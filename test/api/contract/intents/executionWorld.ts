import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities, type Activities } from '../../../../activities/index.js'
import { connectChains } from '../../../../evm/connect.js'
import { createRegistry } from '../../../../evm/registry.js'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { connect } from '../../../../db/client/connect.js'
import { findFunding } from '../../../../db/intents/fundings.js'
import { createWorld } from '../../../relayer/world/fixture.js'
import { setFrozen } from '../../../relayer/world/scenes/freeze.js'
import { closedUrl } from '../../../planning/chains.js'
import { standInTemporal, startApi, type ApiResponse } from '../../api.js'
import { outcomesByHand } from '../../../support/outcomes.js'
import type { ApplicationFailure } from '@temporalio/common'
import type { WalletBody } from '../../chainWorld.js'

/** Where money can be; the other chains do not answer. */
const chain = 'arbitrum-sepolia'

/** A step that fails is what some tests want to see. */
const logger = new DefaultLogger('ERROR')

export type ExecutionWorld = Awaited<ReturnType<typeof startExecutionWorld>>

/**
 * The API with the signer and the driver of one real chain. What an intent's workflow does is done step by
 * step: `submit`, `chainWorld.round`, `finish`.
 */
export async function startExecutionWorld() {
  const chainWorld = await createWorld({ senderCount: 1 })
  const { database, workerDb, account } = chainWorld
  const registry = createRegistry('devnet', join(chainWorld.folder, 'devnet.json'))
  const urls = { 'ethereum-sepolia': closedUrl, 'base-sepolia': closedUrl }
  const chains = connectChains(registry, { ...urls, [chain]: chainWorld.proxy.url })
  const db = connect(database.urlAs('steward_api'), 4)
  const temporal = standInTemporal()
  const parts = { chains, registry }
  const api = await startApi({ db, temporal: temporal.client, ...parts })
  const key = await createApiKey(database.db, account.id, { name: 'test' })
  const stopping = new AbortController()
  const outcomes = outcomesByHand(() => sleep(20))
  const limits = { bridgeGiveUpMs: 3_600_000, stopping: stopping.signal }
  const tools = { db: workerDb, ...parts, outcomes, ...limits }
  const activities = createActivities(tools)
  let users = 0

  const post = (path: string, body: object) => api.call('POST', path, { key, body })
  const get = (path: string) => api.call('GET', path, { key })
  const { chainId } = chainWorld.chain

  return {
    ...{ chainWorld, api, temporal, key, post, get },

    /** A wallet that holds base units of USDC, in a block that is indexed. */
    async newWallet(units: bigint): Promise<WalletBody> {
      const { body } = await post('/v1/wallets', { userId: `user ${(users += 1)}` })
      const wallet = body as unknown as WalletBody
      if (units > 0n) await chainWorld.mint(wallet, units)
      await chainWorld.mine()
      await chainWorld.index()
      return wallet
    },

    lend: (walletId: string, amount: unknown, more: object = {}) =>
      post('/v1/intents', { walletId, action: 'lend', amount, ...more }),

    read: async (intentId: string) => (await get(`/v1/intents/${intentId}`)).body,

    /** Hands the deposit of an intent to the relayer. */
    async submit({ body }: ApiResponse): Promise<void> {
      const { intentId, accountId, walletId } = await stepOf(body.id)
      const owner = { intentId, accountId, walletId }
      await chainWorld.submit({ ...owner, sequence: 1, kind: 'deposit', chainId })
    },

    /** Reads the outcome of the deposit and writes the end of the intent, as its workflow does. */
    async finish({ body }: ApiResponse): Promise<void> {
      const intentId = body.id
      const input = { ...(await stepOf(intentId)), deadlineMs: Date.now() + 3_600_000 }
      try {
        await new MockActivityEnvironment({}, { logger }).run(activities.deposit, input)
        await activities.finalizeIntent({ intentId })
      } catch (error) {
        const { type, message } = error as ApplicationFailure
        const failure = { code: String(type), message, step: 1 }
        await activities.finalizeIntent({ intentId, failure })
      }
    },

    /** Executes an intent from its plan to its end. */
    async execute(planned: ApiResponse): Promise<void> {
      await this.submit(planned)
      await chainWorld.round()
      await this.finish(planned)
    },

    /** Executes an intent whose deposit was deferred, without waiting for its time. */
    async resume(planned: ApiResponse): Promise<void> {
      const deferred = chainWorld.db('operation').where({ intent_id: planned.body.id })
      await deferred.update({ retry_after: chainWorld.db.raw('clock_timestamp()') })
      await this.execute(planned)
    },

    /** Executes an intent whose market stops taking deposits after the deposit was signed. */
    async executeInVain(planned: ApiResponse): Promise<void> {
      await this.submit(planned)
      await chainWorld.sign()
      await setFrozen(chainWorld, true)
      await chainWorld.broadcast()
      await chainWorld.mine()
      await chainWorld.index()
      await setFrozen(chainWorld, false)
      // Plans are made with the market as it is at the indexed block.
      await chainWorld.index()
      await this.finish(planned)
    },

    /** Sends the money of a funding, as its workflow does. */
    async pay({ body }: ApiResponse): Promise<void> {
      const funding = await findFunding(workerDb, body.id)
      if (!funding) throw new Error('There is no such funding.')
      const { accountId, walletId } = funding
      const at = { sequence: 1, kind: 'fund', chainId: Number(funding.chainId) } as const
      await chainWorld.submit({ intentId: body.id, accountId, walletId, ...at })
      await chainWorld.round()
    },

    async stop(): Promise<void> {
      stopping.abort()
      await api.stop()
      for (const client of chains.list) client.close()
      await db.destroy()
      await chainWorld.stop()
    },
  }

  async function stepOf(intentId: string): Promise<Omit<DepositInput, 'deadlineMs'>> {
    const row = await database.db('intent').where({ id: intentId }).first<RespondedIntent>()
    const [step] = row.plan.steps
    return { intentId, accountId: row.account_id, walletId: row.wallet_id, step }
  }
}

type DepositInput = Parameters<Activities['deposit']>[0]
type RespondedIntent = {
  account_id: string
  wallet_id: string
  plan: { steps: [DepositInput['step']] }
}
