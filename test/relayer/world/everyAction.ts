import { Interface } from 'ethers'
import { ENTRY_POINT_ADDRESS, type Market } from '../../../evm/registry.js'
import { devnetTerms } from '../../../dev/devnet/chains.js'
import { createArrival, insertCrossing, submitBurn } from '../bridge/crossing.js'
import { createWorld, owner, usdcUnits, type World } from './fixture.js'
import { lendIn, planWithdrawal, submitLend, submitStep } from './planned.js'
import type { StoredIntent } from '../../../db/intents/intents.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { OperationOrder } from '../../../operations/submit.js'

/** Initial balance of each wallet: more than its intent spends. */
const HELD = 3n * usdcUnits
/** A market may round. */
const ROUNDING = 2n
/** Extra amount to withdraw, because a swap has a fee. */
const SLIPPAGE = usdcUnits / 100n

const token = new Interface(['function mint(address to, uint256 amount)'])
const events = new Interface([
  `event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,
    uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)`,
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender,
    uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
])

export const actions = ['fund', 'lend', 'withdraw', 'bridge', 'mint'] as const
export type ScenarioAction = (typeof actions)[number]

/** A running intent. `handIn` submits its operations, as its activities do on every attempt. */
export type RunningIntent = {
  action: ScenarioAction
  wallet: StoredWallet
  handIn(): Promise<unknown>
  /** Why the chain differs from exactly one execution; undefined when it does not. */
  findFault(): Promise<string | undefined>
}

/** A chain for all actions: Aave lends another USD token, so that a withdrawal ends with a swap. */
export const createFullWorld = () =>
  createWorld({
    terms: { ...devnetTerms['ethereum-sepolia'], extras: ['testDollar', 'comet'] },
  })

/** The same number of intents of each action, with funded wallets. */
export async function prepareActions(world: World, count: number): Promise<RunningIntent[]> {
  const make: Record<ScenarioAction, () => Promise<RunningIntent>> = {
    fund: () => prepareFund(world),
    lend: () => prepareLend(world),
    withdraw: () => prepareWithdrawal(world),
    bridge: () => prepareBurn(world),
    mint: () => prepareMint(world),
  }
  const running: RunningIntent[] = []
  for (let i = 0; i < count; i++) {
    for (const action of actions) running.push(await make[action]())
  }
  return running
}

/** Executions on the chain by event, counted for effects that only the service orders. */
export async function countExecutions({ rpc, chain }: World, fromBlock: string) {
  const count = async (address: string, event: string) => {
    const topics = [events.getEvent(event)?.topicHash]
    return (await rpc<unknown[]>('eth_getLogs', [{ fromBlock, address, topics }])).length
  }
  return {
    userOperations: await count(ENTRY_POINT_ADDRESS, 'UserOperationEvent'),
    fundings: await count(chain.usdc.address, 'AuthorizationUsed'),
    mints: await count(chain.cctp.messageTransmitter, 'MessageReceived'),
  }
}

const unless = (holds: boolean, fault: string) => (holds ? undefined : fault)

/** Creates the submission on the first call, and submits it on each call. */
function once(world: World, create: () => Promise<{ order: OperationOrder }>) {
  let created: { order: OperationOrder } | undefined
  return async () => {
    if (created) return world.submit(created.order)
    created = await create()
    return created
  }
}

async function prepareFund(world: World): Promise<RunningIntent> {
  const wallet = await world.createWallet(0n)
  return {
    ...{ action: 'fund', wallet, handIn: once(world, () => world.fund(wallet)) },
    async findFault() {
      const held = await world.usdcOf(wallet.address)
      return unless(held === usdcUnits, `funded with ${held}`)
    },
  }
}

async function prepareLend(world: World): Promise<RunningIntent> {
  const wallet = await world.createWallet(HELD)
  const market = marketOf(world, 'compound-v3')
  const lend = { market, units: usdcUnits }
  return {
    ...{ action: 'lend', wallet, handIn: once(world, () => submitLend(world, wallet, lend)) },
    async findFault() {
      const left = await world.usdcOf(wallet.address)
      const lent = await heldOf(world, market.receiptToken, wallet)
      const isRight = left === HELD - usdcUnits && lent >= usdcUnits - ROUNDING
      return unless(isRight, `left ${left}, lent ${lent}`)
    },
  }
}

async function prepareWithdrawal(world: World): Promise<RunningIntent> {
  const wallet = await world.createWallet(0n)
  const dollar = world.contracts.testDollar ?? ''
  const market = marketOf(world, 'aave-v3')
  const data = token.encodeFunctionData('mint', [wallet.address, HELD])
  await world.rpc('eth_sendTransaction', [{ from: owner, to: dollar, data }])
  await world.mine()
  await world.index()
  await lendIn(world, wallet, market, HELD)
  const intent = await planWithdrawal(world, wallet, usdcUnits)
  const withdraw = once(world, () => submitStep(world, intent))
  return {
    ...{ action: 'withdraw', wallet },
    async handIn() {
      await withdraw()
      if (await hasArrived(world, intent)) await world.submit(swapOf(world, intent))
    },
    async findFault() {
      const lent = await heldOf(world, market.receiptToken, wallet)
      const [got, left] = [await world.usdcOf(wallet.address), await heldOf(world, dollar, wallet)]
      const isNear = (units: bigint, to: bigint) => units >= to - SLIPPAGE && units <= to + SLIPPAGE
      const isOnce = isNear(lent, HELD - usdcUnits) && isNear(got, usdcUnits)
      const isRight = isOnce && left <= ROUNDING
      return unless(isRight, `lent ${lent}, got ${got}, left ${left}`)
    },
  }
}

async function prepareBurn(world: World): Promise<RunningIntent> {
  const wallet = await world.createWallet(HELD)
  const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
  return {
    ...{ action: 'bridge', wallet, handIn: () => submitBurn(world, crossing) },
    async findFault() {
      const left = await world.usdcOf(wallet.address)
      return unless(left === HELD - usdcUnits, `left ${left}`)
    },
  }
}

async function prepareMint(world: World): Promise<RunningIntent> {
  const wallet = await world.createWallet(0n)
  const { order } = await createArrival(world, wallet, usdcUnits)
  return {
    ...{ action: 'mint', wallet, handIn: () => world.submit(order) },
    async findFault() {
      const got = await world.usdcOf(wallet.address)
      return unless(got === usdcUnits, `minted ${got}`)
    },
  }
}

/** Whether a withdrawal's first step is confirmed. */
async function hasArrived(world: World, { id }: StoredIntent): Promise<boolean> {
  const row = await world
    .db('operation')
    .where({ intent_id: id, sequence: 1 })
    .whereIn('state', ['confirmed', 'final'])
    .first<object | undefined>('id')
  return row !== undefined
}

function swapOf({ chain }: World, intent: StoredIntent): OperationOrder {
  const { id: intentId, accountId, walletId } = intent
  const { chainId } = chain
  return { intentId, sequence: 2, kind: 'swap', accountId, walletId, chainId }
}

function marketOf({ chain }: World, protocol: Market['protocol']): Market {
  const market = chain.markets.find((candidate) => candidate.protocol === protocol)
  if (!market) throw new Error(`There is no ${protocol}.`)
  return market
}

/** Reads from the node directly, without injected faults. */
async function heldOf(
  { rpc }: World,
  contract: string,
  { address }: StoredWallet,
): Promise<bigint> {
  const data = new Interface(['function balanceOf(address)']).encodeFunctionData('balanceOf', [
    address,
  ])
  return BigInt(await rpc<string>('eth_call', [{ to: contract, data }, 'latest']))
}
