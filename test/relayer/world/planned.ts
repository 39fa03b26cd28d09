import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities } from '../../../activities/index.js'
import { insertIntent, type StoredIntent } from '../../../db/intents/intents.js'
import { storeIntent } from '../../../planning/intents.js'
import { readMarket } from '../../../planning/market.js'
import { type Submitted, type World } from './fixture.js'
import { outcomesByHand } from '../../support/outcomes.js'
import type { Market } from '../../../evm/registry.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type {
  DepositStep,
  StepPlan,
  PlanStep,
  WithdrawRequest,
} from '../../../domain/intent/intent.js'
import type { OperationOrder } from '../../../operations/submit.js'

const holderOf = ({ id, accountId, address }: StoredWallet) => ({
  ...{ accountId, walletId: id, address, requestId: 'req' },
})

/** Plans a withdrawal like the API, with reservations. */
export async function planWithdrawal(
  world: World,
  wallet: StoredWallet,
  amountUnits: WithdrawRequest['amountUnits'],
): Promise<StoredIntent> {
  const { chain, registry, db, signer } = world
  const request = { action: 'withdraw', asset: 'USDC', amountUnits, chain: chain.name } as const
  const market = await readMarket({ db, chains: signer.chains }, wallet.address, request)
  return db.transaction((trx) =>
    storeIntent({ db: trx, registry }, holderOf(wallet), { request, market }),
  )
}

/** Queues a step of a planned intent. */
export async function submitStep(
  world: World,
  intent: StoredIntent,
  sequence = 1,
): Promise<Submitted> {
  const step = stepOf(intent, sequence)
  if (step.type === 'bridge') throw new Error('A burn has more to write.')
  const { id: intentId, accountId, walletId } = intent
  const { chainId } = world.chain
  const owning = { intentId, sequence, accountId, walletId, chainId }
  return world.submit({ ...owning, kind: step.type })
}

function stepOf({ plan }: StoredIntent, sequence: number): PlanStep {
  const step = plan?.steps.find((candidate) => candidate.sequence === sequence)
  if (!step) throw new Error(`No step ${sequence}.`)
  return step
}

/** Lends in one of the chain's markets and indexes it. */
export async function lendIn(
  world: World,
  wallet: StoredWallet,
  market: Market,
  units: bigint,
): Promise<void> {
  const { operationId } = await submitLend(world, wallet, { market, units })
  await world.round()
  const row = await world.row(operationId)
  if (!row?.success) throw new Error(`Nothing was lent: ${row?.message}`)
}

/** Queues a deposit in one of the chain's markets, with its intent and plan. */
export async function submitLend(
  world: World,
  wallet: StoredWallet,
  { market: { protocol, address }, units }: { market: Market; units: bigint },
): Promise<Submitted & { order: OperationOrder }> {
  const { chainId, name } = world.chain
  const amount = (Number(units) / 1e6).toString()
  const where = { chain: name, protocol, market: address }
  const step: DepositStep = { type: 'deposit', sequence: 1, asset: 'USDC', amount, ...where }
  const request = { action: 'lend', asset: 'USDC', amountUnits: units, chain: name } as const
  const plan: StepPlan = {
    ...{ strategy: 'direct-deposit', targetChain: name, targetProtocol: protocol, steps: [step] },
    ...{ estimatedGasUsd: 0, estimatedTime: '1-5 seconds', reasoning: 'test' },
  }
  const intent = await insertIntent(world.db, holderOf(wallet), { request, units, plan })
  const { id: intentId, accountId, walletId } = intent
  const owning = { intentId, sequence: 1, accountId, walletId, chainId }
  return world.submit({ ...owning, kind: 'deposit' })
}

/** Result of the withdrawal activity once its operation is finished. */
export async function runWithdrawal(world: World, intent: StoredIntent) {
  const { registry, workerDb, signer } = world
  const step = stepOf(intent, 1)
  if (step.type !== 'withdraw') throw new Error('The step is no withdrawal.')
  const activities = createActivities({
    ...{ db: workerDb, chains: signer.chains, registry, bridgeGiveUpMs: 3_600_000 },
    outcomes: outcomesByHand(() => sleep(20)),
    stopping: new AbortController().signal,
  })
  const { id: intentId, accountId, walletId } = intent
  const input = { intentId, accountId, walletId, step, deadlineMs: Date.now() + 3_600_000 }
  const logger = new DefaultLogger('ERROR')
  return new MockActivityEnvironment({}, { logger }).run(activities.withdraw, input)
}
