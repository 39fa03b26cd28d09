import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { ApplicationFailure } from '@temporalio/common'
import { setTimeout as sleep } from 'node:timers/promises'
import { createActivities } from '../../../activities/index.js'
import { assertFed, type StepInput, type Tools } from '../../../activities/step.js'
import { createRegistry, type ChainName, type Registry } from '../../../evm/registry.js'
import { createSealedAccount } from '../../../custody/account.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { readPairFees } from '../../../db/bridgeFees.js'
import { findBurn, insertBurn } from '../../../operations/burns.js'
import { connect } from '../../../db/client/connect.js'
import { listenToOperations } from '../../../db/client/listen.js'
import { insertWallet, newWalletId, type StoredWallet } from '../../../db/accounts/wallets.js'
import { startIris } from '../../../dev/devnet/iris/iris.js'
import {
  sourceStepOf,
  lastKind,
  type BridgeStep,
  type StepPlan,
  type IntentRequest,
  type PlanStep,
} from '../../../domain/intent/intent.js'
import { isUnsettled, type Unsettled } from '../../../domain/intent/waitReason.js'
import { createStopFile } from '../../../signer/check/stopFile.js'
import { ensureSenders, ensureTreasury, loadKek } from '../../../signer/senders/keys.js'
import { runAttester } from '../../../relayer/attestations/attester.js'
import { submitOperation } from '../../../operations/submit.js'
import { operationId } from '../../../operations/operationId.js'
import { watchOutcomes } from '../../../operations/watchOutcomes.js'
import { storeIntent } from '../../../planning/intents.js'
import { readMarket } from '../../../planning/market.js'
import { connectAttestations } from '../../../evm/bridges/bridges.js'
import { createDatabase } from '../../support/database.js'
import { createSite, startSite, type ChainSite, type StartedSite } from '../world/site.js'
import { type PartLog } from '../../../runtime/log.js'
import { startFront } from './attestationFront.js'
import type { Faults } from '../../../dev/devnet/iris/attestation.js'
import type { StoredIntent } from '../../../db/intents/intents.js'
import type { OperationKind } from '../../../domain/intent/operation.js'
import type { OperationColumns } from '../world/rows.js'

export const dollar = 1_000_000n
const dayMs = 86_400_000
/** Pauses of the attester, ms: so short that no test waits for them. */
const delays = { shortestMs: 100, lookMs: 100, retryMs: 100 }
/** Failing and waiting steps are expected, so warnings are not printed. */
const logger = new DefaultLogger('ERROR')

export type PlannedIntent = StoredIntent & { plan: StepPlan; wallet: StoredWallet }
export type StepReservation = {
  units: string
  from_block: bigint | null
  spent_block: bigint | null
  released_at: Date | null
}
export type BridgeWorld = Awaited<ReturnType<typeof createBridgeWorld>>

/**
 * Chains that mine on demand, their senders, one database, a running attester, and planning like the API's. A burn is
 * attested after the next block.
 */
export async function createBridgeWorld(
  names: ChainName[],
  options: { bridgeGiveUpMs?: number; fastLifeBlocks?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-bridge-'))
  const started = await Promise.all(names.map(startSite))
  const registry = await writeRegistry(join(folder, 'devnet.json'), started)
  const database = await createDatabase()
  const { db } = database
  const workerDb = connect(database.urlAs('steward_worker'))
  const signerDb = connect(database.urlAs('steward_signer'))
  const kek = await loadKek(signerDb, join(folder, 'kek'))
  const chainIds = names.map((name) => registry.get(name).chainId)
  await ensureSenders(signerDb, kek, { chainIds, perChain: 1 })
  const treasury = await ensureTreasury(signerDb, kek)
  const account = await createAccount(db, { name: 'test', plan: 'pro' })

  const logs: { message: string; facts: object }[] = []
  const record = (facts: object, message: string) => void logs.push({ message, facts })
  const log: PartLog = { info: record, warn: record, error: record }
  const stopFile = createStopFile(join(folder, 'stop-signing'), log)
  const keyring = { kek, treasury, leaseOwner: 'signer', stopFile }
  const shared = { database, db, signerDb, registry, keyring, log }
  const sites = await Promise.all(started.map((one) => createSite(shared, one)))

  const burning = sites.map(({ chain, node }) => ({
    domain: chain.cctp.domain,
    rpcUrl: node.url,
    transmitter: chain.cctp.messageTransmitter,
  }))
  const iris = await startIris({
    port: 0,
    confirmations: { fast: 2, standard: 4 },
    chains: burning,
    ...(options.fastLifeBlocks && { fastLifeBlocks: options.fastLifeBlocks }),
  })
  const front = await startFront(iris.url)
  const attestations = connectAttestations(front.url)
  const chains = {
    list: sites.map(({ client }) => client),
    byId: (id: number | bigint) => find(sites, ({ chain }) => chain.chainId === Number(id)).client,
  }

  const stopping = new AbortController()
  const listener = listenToOperations(database.urlAs('steward_worker'), stopping.signal)
  const watching = { db: workerDb, listener, stopping: stopping.signal }
  const tools: Tools = {
    ...{ db: workerDb, chains, registry, outcomes: watchOutcomes(watching) },
    ...{ bridgeGiveUpMs: options.bridgeGiveUpMs ?? 72 * 3_600_000, stopping: stopping.signal },
  }
  function startAttester(): () => Promise<void> {
    const ending = new AbortController()
    const url = database.urlAs('steward_relayer')
    const running = runAttester({ url, attestations, chains, listener, log, delays }, ending.signal)
    return () => {
      ending.abort()
      return running
    }
  }
  let stopAttester = startAttester()
  // Without the bridge's fees no bridge is planned.
  const routes = names.length * (names.length - 1)
  while ((await readPairFees(db)).length < routes) await sleep(20)
  const at = (name: string): ChainSite => find(sites, ({ chain }) => chain.name === name)
  const idOf = (intent: { id: string }, sequence: number, kind: OperationKind) =>
    operationId(intent.id, sequence, kind)

  const world = {
    ...{ db, workerDb, signerDb, registry, chains, tools, logs, account, iris },
    ...{ at, idOf, front },
    activities: createActivities(tools),

    async createWallet(money: Partial<Record<ChainName, bigint>> = {}): Promise<StoredWallet> {
      const id = newWalletId()
      const owning = { purpose: 'wallet', owner: id, accountId: account.id } as const
      const { address, sealed } = createSealedAccount(kek, () => owning)
      const row = { id, accountId: account.id, userId: id, address, metadata: {} }
      const wallet = await insertWallet(db, row, { kekId: kek.id, sealed })
      if (!wallet) throw new Error('The wallet was not stored.')
      for (const [name, units] of Object.entries(money)) await at(name).give(address, units)
      return wallet
    },

    /** Plans and stores an intent from chains and rows, like the API. */
    async intend(wallet: StoredWallet, request: IntentRequest): Promise<PlannedIntent> {
      const market = await readMarket(tools, wallet.address, request)
      const owner = { accountId: wallet.accountId, walletId: wallet.id, requestId: 'req' }
      const intent = await db.transaction((trx) =>
        storeIntent({ db: trx, registry }, owner, { request, market }),
      )
      if (!intent.plan) throw new Error('The intent was not planned.')
      return { ...intent, plan: intent.plan, wallet }
    },

    stepInput<S extends PlanStep = PlanStep>(intent: PlannedIntent, sequence = 1): StepInput<S> {
      const step = find(intent.plan.steps, (one) => one.sequence === sequence) as S
      const sourceStep = sourceStepOf(intent.plan, step)
      const { id: intentId, accountId, walletId } = intent
      return {
        ...{ intentId, accountId, walletId, step, deadlineMs: Date.now() + dayMs },
        ...(sourceStep && { fedBy: { sequence: sourceStep.sequence, kind: lastKind(sourceStep) } }),
      }
    },

    /** Submits like an activity on each attempt, without the retry time of a deferred operation. */
    async submit(intent: PlannedIntent, sequence: number, kind: Exclude<OperationKind, 'fund'>) {
      const input = world.stepInput(intent, sequence)
      const { step, intentId, accountId, walletId } = input
      const name = step.type === 'bridge' ? (kind === 'mint' ? step.to : step.from) : step.chain
      const { chainId } = registry.get(name)
      await assertFed({ db: workerDb }, input)
      const id = idOf(intent, sequence, kind)
      await db('operation')
        .where({ id, state: 'deferred' })
        .update({ retry_after: db.raw('clock_timestamp()') })
      const order = { intentId, sequence, accountId, walletId, chainId }
      if (kind !== 'mint') {
        return submitOperation(workerDb, { ...order, kind }, (trx, operation) =>
          kind === 'bridge' ? openBurn(trx, registry, operation, step as BridgeStep) : done(),
        )
      }
      return submitOperation(workerDb, { ...order, kind })
    },

    /** Submits a step, mines it and indexes it. */
    async perform(intent: PlannedIntent, sequence: number, kind: Exclude<OperationKind, 'fund'>) {
      await world.submit(intent, sequence, kind)
      const { step } = world.stepInput(intent, sequence)
      const name = step.type === 'bridge' ? (kind === 'mint' ? step.to : step.from) : step.chain
      await at(name).round()
      return world.row(intent, sequence, kind)
    },

    run: <I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> =>
      new MockActivityEnvironment(undefined, { logger }).run<[I], O, typeof activity>(
        activity,
        input,
      ),

    /** Like `run`, with retries like Temporal's while the step waits. */
    async retry<I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> {
      for (;;) {
        try {
          return await world.run(activity, input)
        } catch (error) {
          if (!(error instanceof ApplicationFailure && error.type === 'WAITING')) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    },

    /** Like `retry`, for a step that settles within a minute. */
    async settle<I, O extends object>(
      activity: (input: I) => Promise<O | Unsettled>,
      input: I,
    ): Promise<O> {
      const result = await world.retry(activity, input)
      if (isUnsettled(result)) throw new Error(`Not settled: ${result.waitsFor?.message}`)
      return result
    },

    /** Gets the burn of a step attested and its message stored; returns the nonce. */
    async attest(intent: PlannedIntent, sequence = 1): Promise<string> {
      const input = world.stepInput<BridgeStep>(intent, sequence)
      await at(input.step.from).mine(1)
      return world.settle(world.activities.awaitAttestation, input).then(({ nonce }) => nonce)
    },

    row: (intent: { id: string }, sequence: number, kind: OperationKind) =>
      db<OperationColumns>('operation')
        .where({ id: idOf(intent, sequence, kind) })
        .first<OperationColumns>(),
    burn: (intent: { id: string }, sequence = 1) => findBurn(db, idOf(intent, sequence, 'bridge')),
    intent: (intent: { id: string }) =>
      db('intent').where({ id: intent.id }).first<BridgeIntentRow>(),
    reservation: (intent: { id: string }, sequence: number) =>
      db('reservation').where({ intent_id: intent.id, sequence }).first<StepReservation>(),

    async setFaults(faults: Partial<Faults>): Promise<void> {
      await fetch(`${iris.url}/dev/faults`, { method: 'POST', body: JSON.stringify(faults) })
    },

    stopAttester: () => stopAttester(),
    /** A new process requests every burn at once, without the schedules of the previous one. */
    async restartAttester(): Promise<void> {
      await stopAttester()
      stopAttester = startAttester()
    },

    async stop(): Promise<void> {
      stopping.abort()
      await stopAttester()
      await Promise.all(sites.map((site) => site.stop()))
      await Promise.all([front.stop(), iris.stop(), workerDb.destroy(), signerDb.destroy()])
      await database.drop()
      await Promise.all(started.map(({ release }) => release()))
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

export type BridgeIntentRow = {
  status: string
  error: { code: string; recovery?: object } | null
  delay: { code: string } | null
}

const done = () => Promise.resolve()

function openBurn(trx: Tools['db'], registry: Registry, id: string, { from, to }: BridgeStep) {
  const { cctp } = registry.get(from)
  const destinationChainId = registry.get(to).chainId
  return insertBurn(trx, { operationId: id, sourceDomain: cctp.domain, destinationChainId })
}

/** Each chain needs addresses. A chain that is not started gets those of a started one. */
async function writeRegistry(file: string, started: StartedSite[]): Promise<Registry> {
  const contracts = Object.fromEntries(
    createRegistry('testnet').chains.map(({ name }) => [
      name,
      (started.find((one) => one.name === name) ?? started[0])?.contracts,
    ]),
  )
  await writeFile(file, JSON.stringify(contracts))
  return createRegistry('devnet', file)
}

function find<T>(all: T[], isIt: (one: T) => boolean): T {
  const found = all.find(isIt)
  if (!found) throw new Error('Not found.')
  return found
}
