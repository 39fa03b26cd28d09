import { highestL1Part, readL1Price, readL1PriceAt, type L1Price } from '../chains/l1Costs.js'
import { readTip } from '../chains/prices.js'
import { readEthBalance } from '../chains/balances.js'
import { blockParameter, readBlock, type Block, type BlockRef } from '../chains/read.js'
import { ServiceError } from '../domain/errors.js'
import type { Held } from '../domain/waiting.js'
import type { SigningLimits } from '../domain/limits.js'
import { divideUp } from '../domain/money.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Chain, Registry } from '../chains/registry.js'
import type { PrivateKek } from '../custody/kek/file.js'
import type { Db } from '../db/connection/connect.js'
import type { Treasury } from '../db/keys.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Lane, Taken } from '../db/lanes/signing.js'
import type { PartLog } from '../log.js'

/** What keys are opened with, and under which name rows are taken. */
export type Keyring = { kek: PrivateKek; treasury: Treasury; taker: string }

/** What every round of the signer works with. */
export type SignerTools = {
  db: Db
  chains: Chains
  registry: Registry
  keyring: Keyring
  /** What nothing that is signed goes beyond, whatever rows say; absent: the usual. */
  limits?: SigningLimits
  /** What one operation may cost at most, wei. */
  operationGasWei: bigint
  /** How long a bundle waits for what is slow, ms; absent: `PATIENCE_MS`. */
  patienceMs?: number
  log: PartLog
}

/** An operation that this signer has taken. */
export const takenBy = (
  { keyring }: Pick<SignerTools, 'keyring'>,
  { id }: Pick<Operation, 'id'>,
): Taken => ({ id, taker: keyring.taker })

/** Of a refusal: what was refused before stays so, whatever the reason is now. */
export const keptRefusal = ({ refusedBlock }: Operation): { refusedBlock?: bigint } =>
  refusedBlock === null ? {} : { refusedBlock }

/** What gas costs on a chain now. */
export type GasPrices = {
  /** The block at which calls are simulated. */
  head: bigint
  headHash: string
  fees: { maxWei: bigint; tipWei: bigint }
}

/** What a transaction costs on a chain now: `l1Price` is what posting data on L1 does. */
export type Prices = GasPrices & { l1Price: L1Price }

/** What a sender has: its balance, and how many transactions were executed of it when it had that. */
export type Purse = { balanceWei: bigint; usedNonces: bigint }

/** What must be known to store a transaction. Read before: nothing may ask the chain once rows are locked. */
export type Means = Purse & { l1Price: L1Price }

/** One turn of one lane: what holds for everything that it signs, as the head of the chain was then. */
export type Round = GasPrices & { client: ChainClient; lane: Lane }

/**
 * Asks the chain for what a lane must know before it prepares anything.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer, or gas costs more than the cap.
 */
export async function readRound(client: ChainClient, lane: Lane): Promise<Round> {
  return { client, lane, ...(await readGasPrices(client)) }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer. */
export async function readMeans({
  client,
  lane,
  head,
}: Pick<Round, 'client' | 'lane' | 'head'>): Promise<Means> {
  const block = { blockNumber: head }
  const [purse, l1Price] = await Promise.all([
    readPurse(client, lane.sender, block),
    readL1PriceAt(client, { block }),
  ])
  return { ...purse, l1Price }
}

/** What a chain asks for gas: at its newest block, and for the producer of the next one. */
export type GasTerms = { block: Block; tipWei: bigint }

/** @throws {ServiceError} RPC_ERROR when the node does not answer. */
export async function readGasTerms(client: ChainClient): Promise<GasTerms> {
  const [block, tipWei] = await Promise.all([readBlock(client, 'latest'), readTip(client)])
  if (!block) throw new ServiceError('RPC_ERROR', `${client.chain.name} has no latest block.`)
  return { block, tipWei }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer, or gas costs more than the cap. */
async function readGasPrices(client: ChainClient): Promise<GasPrices> {
  const { chain } = client
  const { block, tipWei } = await readGasTerms(client)
  const maxWei = 2n * block.baseFeeWei + tipWei
  if (maxWei > chain.maxFeeCapWei) {
    const details = { waitsFor: 'GAS_PRICE' } satisfies Held
    const message = `Gas on ${chain.name} costs more than the cap allows.`
    throw new ServiceError('RPC_ERROR', message, details)
  }
  return { head: block.number, headHash: block.hash, fees: { maxWei, tipWei } }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer, or gas costs more than the cap. */
export async function readPrices(client: ChainClient): Promise<Prices> {
  const [prices, l1Price] = await Promise.all([readGasPrices(client), readL1Price(client)])
  return { ...prices, l1Price }
}

/** At one block: what was executed is either money that is spent or money that is still to be spent. */
export async function readPurse(
  client: ChainClient,
  sender: string,
  block: BlockRef,
): Promise<Purse> {
  const [count, balanceWei] = await Promise.all([
    client.send<string>('eth_getTransactionCount', [sender, blockParameter(block)]),
    readEthBalance(client, { owner: sender, block }),
  ])
  return { usedNonces: BigInt(count), balanceWei }
}

/** Gas of a lend of a wallet that is not delegated yet, and the data of its transaction. */
const USUAL_GAS = 400_000n
const USUAL_DATA = `0x${'00'.repeat(2_000)}`

/** What a usual transaction may cost at the present fees: as gas, and in wei. */
export function usualCost(
  chain: Chain,
  { fees, l1Price }: Pick<Prices, 'fees' | 'l1Price'>,
): { gas: bigint; wei: bigint } {
  const l1 = highestL1Part(chain, l1Price, { data: USUAL_DATA, authorizations: 1 })
  const wei = (USUAL_GAS + l1.gas) * fees.maxWei + l1.feeWei
  return { gas: asGas(wei, fees), wei }
}

/** A cost as the gas that it would pay for, so that it is the same when fees have changed. */
export const asGas = (wei: bigint, { maxWei }: Prices['fees']): bigint =>
  maxWei === 0n ? wei : divideUp(wei, maxWei)
