import { expect } from 'vitest'
import { Interface, concat, hexlify, randomBytes, toBeHex, zeroPadValue } from 'ethers'
import { MULTICALL_ADDRESS } from '../../../evm/calls/multicall.js'
import { insertBurn, setAttested } from '../../../operations/burns.js'
import { insertIntent } from '../../../db/intents/intents.js'
import { insertReservation } from '../../../db/intents/reservations.js'
import { deriveAttesterKey } from '../../../dev/devnet/contracts/cctp.js'
import { encodeMint } from '../../../evm/bridges/cctp/contracts.js'
import { owner, usdcUnits, type Submitted, type World } from '../world/fixture.js'
import type { Db } from '../../../db/client/connect.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'
import type { BridgeStep, StepPlan } from '../../../domain/intent/intent.js'
import type { OperationOrder } from '../../../operations/submit.js'

/** The chain of the relayer's world, and the other chain of the bridge, which does not run. */
const here = 'arbitrum-sepolia'
const there = 'base-sepolia'

/** A foreign devnet account for which anvil signs. */
const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export type Crossing = { intentId: string; wallet: StoredWallet; step: BridgeStep; units: bigint }

/** An intent that bridges USDC and lends it on the other chain, with its reservations. */
export async function insertCrossing(
  world: World,
  wallet: StoredWallet,
  units: bigint,
  from: typeof here | typeof there,
): Promise<Crossing> {
  const to = from === here ? there : here
  const amount = (Number(units) / 1e6).toString()
  const step: BridgeStep = {
    ...{ type: 'bridge', sequence: 1, from, to, protocol: 'cctp', speed: 'fast', asset: 'USDC' },
    ...{ amount, maxFee: '0.0002', arrives: amount },
  }
  const destination = world.registry.get(to)
  const request = { action: 'lend', asset: 'USDC', amountUnits: units, chain: to } as const
  const holder = { accountId: wallet.accountId, walletId: wallet.id, requestId: 'req' }
  const plan: StepPlan = {
    ...{ strategy: 'single-bridge', targetChain: to, targetProtocol: 'aave-v3', expectedApy: 3 },
    steps: [
      step,
      {
        ...{ type: 'deposit', sequence: 2, chain: to, protocol: 'aave-v3', asset: 'USDC', amount },
        market: destination.markets[0]?.address ?? '',
      },
    ],
    ...{ estimatedGasUsd: 0, estimatedTime: '1-5 seconds', reasoning: 'test' },
  }
  const { id: intentId } = await insertIntent(world.db, holder, { request, units, plan })
  for (const [sequence, name] of [[1, from] as const, [2, to] as const]) {
    const { chainId, usdc } = world.registry.get(name)
    const place = { intentId, sequence, walletId: wallet.id, chainId, token: usdc.address, units }
    await insertReservation(world.db, { ...place, ...(sequence === 2 ? { fedBy: 1 } : {}) })
  }
  return { intentId, wallet, step, units }
}

/** Queues the burn of a crossing like its activity. */
export async function submitBurn(world: World, { intentId, wallet, step }: Crossing) {
  const { id: walletId, accountId } = wallet
  const { chainId, cctp } = world.registry.get(step.from)
  const owning = { intentId, sequence: 1, accountId, walletId, chainId }
  const order: OperationOrder = { ...owning, kind: 'bridge' }
  const destinationChainId = world.registry.get(step.to).chainId
  return world.submit(order, (trx, operationId) =>
    insertBurn(trx, { operationId, sourceDomain: cctp.domain, destinationChainId }),
  )
}

export type AttestedBurn = { nonce: string; message: string; attestation: string }
type CrossingOrder = {
  recipient: string
  units: bigint
  nonce?: string
  feeUnits?: bigint
  expirationBlock?: bigint
  destinationDomain?: number
  handler?: string
}

/** The attested message of a burn on the other chain. */
export function attest(world: World, order: CrossingOrder): AttestedBurn {
  const { tokenMessenger, domain } = world.chain.cctp
  const { recipient, units, feeUnits = 0n, expirationBlock = 0n, handler = tokenMessenger } = order
  const { nonce = hexlify(randomBytes(32)), destinationDomain = domain } = order
  const word = (value: string | bigint) =>
    typeof value === 'bigint' ? toBeHex(value, 32) : zeroPadValue(value, 32)
  const uint32 = (value: number) => toBeHex(value, 4)
  const body = [uint32(1), ...[world.chain.usdc.address, recipient, units, recipient].map(word)]
  const source = world.registry.get(there).cctp.domain
  const message = concat([
    ...[uint32(1), uint32(source), uint32(destinationDomain), nonce, word(tokenMessenger)],
    ...[word(handler), word(0n), uint32(1_000), uint32(1_000)],
    ...[...body, word(200n), word(feeUnits), word(expirationBlock)],
  ])
  const attestation = deriveAttesterKey().attest(message)
  return { nonce, message, attestation }
}

export type Arrival = Crossing & { burnId: string; attested: AttestedBurn; order: OperationOrder }

/** A crossing whose money was burned on the other chain, with its attested message. */
export async function createArrival(
  world: World,
  wallet: StoredWallet,
  units: bigint,
  burn: Partial<CrossingOrder> = {},
): Promise<Arrival> {
  const crossing = await insertCrossing(world, wallet, units, there)
  const { intentId, operationId: burnId, order } = await submitBurn(world, crossing)
  await world
    .db('operation')
    .where({ id: burnId })
    .update({
      ...{ state: 'final', success: true, units: units.toString(), log_index: 0 },
      ...{ tx_hash: '0x01', block_number: 1, block_hash: '0x02', gas_used: 1, gas_cost_usd: 0 },
    })
  const attested = attest(world, { recipient: wallet.address, units, ...burn })
  await store(world, burnId, attested)
  const { chainId } = world.chain
  return {
    ...{ ...crossing, burnId, attested },
    order: { ...order, intentId, kind: 'mint', chainId },
  }
}

/** Stores the attested message of a burn like the attester. */
export function store(world: World, burnId: string, { nonce, ...attested }: AttestedBurn) {
  return setAttested(world.driver().db, burnId, { eventNonce: nonce, ...attested })
}

/** The money has arrived once, and the deposit's input names its source. */
export async function expectArrived(
  world: World,
  { intentId, wallet }: Arrival,
  { operationId }: Submitted,
  units = usdcUnits,
  state = 'confirmed',
) {
  const row = await world.row(operationId)
  expect(row).toMatchObject({ state, success: true, units: units.toString() })
  expect(await world.usdcOf(wallet.address)).toBe(units)
  const fed = { from_block: row?.block_number, units: units.toString(), spent_block: null }
  expect(await world.reservation(intentId, 2)).toMatchObject(fed)
  return row
}

/** A foreign account delivers messages in one transaction. Nothing is mined. */
export async function mintAsStranger(world: World, ...messages: AttestedBurn[]): Promise<string> {
  const calls = messages.map((attested) => encodeMint(world.chain, attested))
  const [only] = calls
  const targets = calls.map(({ to, data }) => [to, false, data])
  const call =
    only && calls.length === 1
      ? only
      : { to: MULTICALL_ADDRESS, data: multicall.encodeFunctionData('aggregate3', [targets]) }
  const price = {
    gas: '0x2dc6c0',
    maxFeePerGas: '0x2e90edd000',
    maxPriorityFeePerGas: '0x1dcd65000',
  }
  return world.rpc('eth_sendTransaction', [{ from: stranger, ...call, ...price }])
}

const multicall = new Interface([
  'function aggregate3(tuple(address target, bool allowFailure, bytes callData)[] calls) payable',
])
const messenger = new Interface(['function setMinFee(uint256 minFee)'])

/** Sets the bridge's fee, in thousandths of a basis point, in a block of its own. */
export async function setBridgeFee(world: World, fee: bigint): Promise<void> {
  const data = messenger.encodeFunctionData('setMinFee', [fee])
  const to = world.chain.cctp.tokenMessenger
  await world.rpc('eth_sendTransaction', [{ from: owner, to, data }])
  await world.mine()
}

/** Burns of one wallet run one at a time because they contend. Without that they share a bundle. */
export async function allowSharedBundle(db: Db): Promise<void> {
  await db('operation').where({ kind: 'bridge', state: 'queued' }).update({ resource: null })
}
