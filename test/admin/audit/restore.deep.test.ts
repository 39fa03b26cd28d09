import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { insertFunding } from '../../../db/intents/fundings.js'
import { demoFunding } from '../../../domain/intent/funding.js'
import { indexSpentKeys } from '../../../relayer/foreignExecutions.js'
import { createArrival, insertCrossing, submitBurn } from '../../relayer/bridge/crossing.js'
import { createWorld, finalityBlocks, usdcUnits, type World } from '../../relayer/world/fixture.js'
import { differencesOf, expectNoDifferences, lineOf, reconcileWorld } from './auditing.js'
import { takeBackup } from './backup.js'
import type { OperationOrder } from '../../../operations/submit.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

/** Set it for other times of the backup. */
const ROUNDS = Number(process.env.RESTORE_ROUNDS ?? 2)
const SEED = Number(process.env.RESTORE_SEED ?? Date.now() % 1_000_000)
/** Upper bound of the interest during a drill, in base units. Far below a second deposit. */
const MOST_INTEREST = 1_000n
/** Chain time before the check, s, so that interest accrues. */
const HOUR_S = 3_600
/** Rounds of signer and relayer after which all intents have finished. */
const PATIENCE = 8

/** A request whose rows are in every backup. `handIn` does the work of its activities at each attempt. */
type RestoredRequest = {
  what: string
  wallet: StoredWallet
  handIn(): Promise<unknown>
  /** Its money according to the chain: lent, held. */
  expected: [lent: bigint, held: bigint]
  intentId: string
}

let world: World
let backup: Awaited<ReturnType<typeof takeBackup>> | undefined

beforeAll(async () => {
  world = await createWorld({ senderCount: 2 })
})
afterEach(async () => {
  await backup?.drop()
  backup = undefined
})
afterAll(() => world?.stop())

/** mulberry32 */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function askForLend(): Promise<RestoredRequest> {
  const wallet = await world.createWallet(usdcUnits)
  const intentId = await world.insertLend(wallet, usdcUnits)
  const order = orderOf(wallet, intentId, 'deposit')
  const handIn = () => world.submit(order)
  return { what: 'lend', wallet, intentId, expected: [usdcUnits, 0n], handIn }
}

async function askForFunding(): Promise<RestoredRequest> {
  const wallet = await world.createWallet(0n)
  const { id: walletId, accountId } = wallet
  const { units } = demoFunding
  const funding = { accountId, walletId, chainId: world.chain.chainId, units }
  const { id } = await insertFunding(world.db, funding)
  const handIn = () => world.submit(orderOf(wallet, id, 'fund'))
  return { what: 'fund', wallet, intentId: id, expected: [0n, units], handIn }
}

async function askForBurn(): Promise<RestoredRequest> {
  const wallet = await world.createWallet(usdcUnits)
  const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
  const handIn = () => submitBurn(world, crossing)
  return { what: 'burn', wallet, intentId: crossing.intentId, expected: [0n, 0n], handIn }
}

async function askForMint(): Promise<RestoredRequest> {
  const wallet = await world.createWallet(0n)
  const { order, intentId } = await createArrival(world, wallet, usdcUnits)
  // Its burn is on a chain outside of this world.
  const handIn = () => world.submit(order)
  return { what: 'mint', wallet, intentId, expected: [0n, usdcUnits], handIn }
}

function orderOf(wallet: StoredWallet, intentId: string, kind: 'deposit' | 'fund'): OperationOrder {
  const { id: walletId, accountId } = wallet
  const { chainId } = world.chain
  return { intentId, sequence: 1, kind, accountId, walletId, chainId }
}

async function broadcast(): Promise<void> {
  world.driver().sentAt.clear()
  await world.broadcast()
}

/** The work of a workflow at each start: submit, wait, finalize. */
async function work(asked: RestoredRequest[]): Promise<void> {
  await world
    .db('operation')
    .where({ state: 'deferred' })
    .update({ retry_after: world.db.raw('clock_timestamp()') })
  await world.db('operation').update({ leased_until: null })
  for (const one of asked) await one.handIn().catch(() => undefined)
}

async function finish(asked: RestoredRequest[]): Promise<void> {
  for (const { what, intentId } of asked) {
    if (what === 'lend') await finalizeIntent(world.workerDb, { intentId })
  }
}

/** Deviations of the chain from exactly one execution of each request. */
async function faultsOf(asked: RestoredRequest[]): Promise<string[]> {
  const faults: string[] = []
  for (const { what, wallet, expected } of asked) {
    const [lent, held] = expected
    const found = [await world.deposited(wallet.address), await world.usdcOf(wallet.address)]
    const interest = (found[0] ?? 0n) - lent
    const isLent = interest >= 0n && interest <= (lent > 0n ? MOST_INTEREST : 0n)
    if (!isLent || found[1] !== held) faults.push(`${what}: ${found.join()}`)
  }
  return faults
}

const readLines = async () => (await differencesOf(world)).map(lineOf)

async function drill(seed: number): Promise<void> {
  const random = createRandom(seed)
  const maybe = async (step: () => Promise<unknown>) => random() < 0.5 && (await step())
  const makers = [askForLend, askForLend, askForFunding, askForBurn, askForMint]
  const asked: RestoredRequest[] = []
  for (const make of [...makers, ...makers]) asked.push(await make())
  asked.sort(() => random() - 0.5)

  const early = asked.slice(0, Math.floor(random() * asked.length))
  await work(early)
  await maybe(() => world.sign())
  await maybe(broadcast)
  await maybe(() => world.mine())
  await maybe(() => world.index())
  backup = await takeBackup(world)
  await world.restartDriver()

  const lost = await askForLend()
  const late = asked.filter(() => random() < 0.8)
  await work([...late, lost])
  for (let i = 0; i < 3; i++) {
    await world.round()
    await work([...late, lost])
  }
  await broadcast()
  await world.mine()
  await world.index()
  await finish([...late, lost])
  expect(await faultsOf([lost])).toEqual([])

  await backup.restore()
  await world.restartDriver()
  const before = await readLines()
  expect(before.join('\n')).toContain('neither an operation nor a wallet')
  expect(before.join('\n')).toContain('the sender cannot sign')

  await world.mine(finalityBlocks)
  const { fixed } = await reconcileWorld(world)
  expect(fixed.map(({ check }) => check)).toContain('senders')
  for (let i = 0; i < PATIENCE; i++) {
    await world.index()
    await work(asked)
    await world.sign()
    await indexSpentKeys(world.driver())
    await broadcast()
    await world.mine()
  }
  await world.index()
  await finish(asked)
  await world.rpc('evm_increaseTime', [HOUR_S])
  await world.mine()
  expect(await faultsOf([...asked, lost])).toEqual([])
  await world.mine(finalityBlocks)
  await world.index()
  await reconcileWorld(world)
  const intents = await world
    .db('intent')
    .whereIn('id', idsOf(asked, 'lend'))
    .pluck<string[]>('status')
  expect(new Set(intents)).toEqual(new Set(['completed']))
  await expectNoDifferences(world)
}

const idsOf = (asked: RestoredRequest[], kind: string) =>
  asked.filter(({ what }) => what === kind).map(({ intentId }) => intentId)

describe(`a restored backup, from seed ${SEED}`, () => {
  test.each(Array.from({ length: ROUNDS }, (_, i) => SEED + i))(
    'with the chain ahead and all workflows lost: every effect once (%i)',
    async (seed) => {
      console.log(`RESTORE_SEED=${seed}`)
      await drill(seed)
    },
    120_000,
  )
})
