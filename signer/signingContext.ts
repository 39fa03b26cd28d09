import { highestL1Part, readL1Price, readL1PriceAt, type L1Price } from '../evm/l1Costs.js'
import { readTip } from '../evm/prices.js'
import { readEthBalance } from '../evm/balances.js'
import { blockParameter, readBlock, type Block, type BlockRef } from '../evm/read.js'
import { ServiceError } from '../domain/errors.js'
import type { Held } from '../domain/intent/waiting.js'
import type { SigningLimits } from '../domain/limits.js'
import { divideUp } from '../domain/money.js'
import type { ChainClient, Chains } from '../evm/connect.js'
import type { Chain, Registry } from '../evm/registry.js'
import type { StopFile } from './check/stopFile.js'
import type { PrivateKek } from '../custody/kek/file.js'
import type { Db } from '../db/client/connect.js'
import type { Treasury } from '../db/keys.js'
import type { Operation } from '../operations/operations.js'
import type { Sender, ClaimedOperation } from '../operations/signing/signing.js'
import type { PartLog } from '../runtime/log.js'

/** The keys to open, the name under which this signer claims rows, and the file that stops its signatures. */
export type Keyring = {
  kek: PrivateKek
  treasury: Treasury
  leaseOwner: string
  stopFile: StopFile
}

/** The dependencies of the signer. */
export type SignerTools = {
  db: Db
  chains: Chains
  registry: Registry
  keyring: Keyring
  /** Bounds for everything signed, independent of rows; absent: the defaults. */
  limits?: SigningLimits
  /** Highest gas cost of one operation, wei. */
  operationGasWei: bigint
  /** How long a bundle waits for its slowest operation, ms; absent: `PATIENCE_MS`. */
  patienceMs?: number
  log: PartLog
}

/** An operation that this signer has claimed. */
export const claimedBy = (
  { keyring }: Pick<SignerTools, 'keyring'>,
  { id }: Pick<Operation, 'id'>,
): ClaimedOperation => ({ id, leaseOwner: keyring.leaseOwner })

/** A new refusal keeps the block of the first one, for any reason. */
export const keptRefusal = ({ refusedBlock }: Operation): { refusedBlock?: bigint } =>
  refusedBlock === null ? {} : { refusedBlock }

/** Current gas prices of a chain. */
export type GasPrices = {
  /** The block at which calls are simulated. */
  head: bigint
  headHash: string
  fees: { maxWei: bigint; tipWei: bigint }
}

/** Current transaction prices of a chain, with the price of posting data on L1. */
export type Prices = GasPrices & { l1Price: L1Price }

/** A sender's ETH balance, and its transaction count at the same block. */
export type SenderBalance = { balanceWei: bigint; usedNonces: bigint }

/** The inputs for storing a transaction. They are read first: no chain request may run while rows are locked. */
export type SenderState = SenderBalance & { l1Price: L1Price }

/** The signing context of one bundle: its sender, and the chain's head and gas prices when it began. */
export type SigningContext = GasPrices & { client: ChainClient; sender: Sender }

/**
 * Reads the chain state that a sender needs before it prepares operations.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer, or gas exceeds the cap.
 */
export async function readSigningContext(
  client: ChainClient,
  sender: Sender,
): Promise<SigningContext> {
  return { client, sender, ...(await readGasPrices(client)) }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer. */
export async function readSenderState({
  client,
  sender,
  head,
}: Pick<SigningContext, 'client' | 'sender' | 'head'>): Promise<SenderState> {
  const block = { blockNumber: head }
  const [balance, l1Price] = await Promise.all([
    readSenderBalance(client, sender.address, block),
    readL1PriceAt(client, { block }),
  ])
  return { ...balance, l1Price }
}

/** The newest block, with its base fee, and the tip for the next one. */
export type GasTerms = { block: Block; tipWei: bigint }

/** @throws {ServiceError} RPC_ERROR when the node does not answer. */
export async function readGasTerms(client: ChainClient): Promise<GasTerms> {
  const [block, tipWei] = await Promise.all([readBlock(client, 'latest'), readTip(client)])
  if (!block) throw new ServiceError('RPC_ERROR', `${client.chain.name} has no latest block.`)
  return { block, tipWei }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer, or gas exceeds the cap. */
async function readGasPrices(client: ChainClient): Promise<GasPrices> {
  const { chain } = client
  const { block, tipWei } = await readGasTerms(client)
  const maxWei = 2n * block.baseFeeWei + tipWei
  if (maxWei > chain.maxFeeCapWei) {
    const details = { waitsFor: 'GAS_PRICE' } satisfies Held
    const message = `Gas on ${chain.name} exceeds the fee cap of the chain.`
    throw new ServiceError('RPC_ERROR', message, details)
  }
  return { head: block.number, headHash: block.hash, fees: { maxWei, tipWei } }
}

/** @throws {ServiceError} RPC_ERROR when the node does not answer, or gas exceeds the cap. */
export async function readPrices(client: ChainClient): Promise<Prices> {
  const [prices, l1Price] = await Promise.all([readGasPrices(client), readL1Price(client)])
  return { ...prices, l1Price }
}

/** Both at one block, so that each transaction is either executed and paid or neither. */
export async function readSenderBalance(
  client: ChainClient,
  sender: string,
  block: BlockRef,
): Promise<SenderBalance> {
  const [count, balanceWei] = await Promise.all([
    client.send<string>('eth_getTransactionCount', [sender, blockParameter(block)]),
    readEthBalance(client, { owner: sender, block }),
  ])
  return { usedNonces: BigInt(count), balanceWei }
}

/** Gas and data size of a lend by a wallet that is not delegated yet. */
const USUAL_GAS = 400_000n
const USUAL_DATA = `0x${'00'.repeat(2_000)}`

/** Highest cost of a usual transaction at current fees: as gas, and in wei. */
export function usualCost(
  chain: Chain,
  { fees, l1Price }: Pick<Prices, 'fees' | 'l1Price'>,
): { gas: bigint; wei: bigint } {
  const l1 = highestL1Part(chain, l1Price, { data: USUAL_DATA, authorizations: 1 })
  const wei = (USUAL_GAS + l1.gas) * fees.maxWei + l1.feeWei
  return { gas: asGas(wei, fees), wei }
}

/** A cost converted to gas, so that it stays valid when fees change. */
export const asGas = (wei: bigint, { maxWei }: Prices['fees']): bigint =>
  maxWei === 0n ? wei : divideUp(wei, maxWei)
