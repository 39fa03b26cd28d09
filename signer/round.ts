import { readL1Price, type L1Price } from '../chains/l1Costs.js'
import { readTip } from '../chains/prices.js'
import { readBlock } from '../chains/read.js'
import { ServiceError } from '../domain/errors.js'
import type { SigningLimits } from '../domain/limits.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Registry } from '../chains/registry.js'
import type { PrivateKek } from '../custody/kek/file.js'
import type { Db } from '../db/connection/connect.js'
import type { Treasury } from '../db/keys.js'
import type { Lane } from '../db/lanes/signing.js'
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
  log: PartLog
}

/** One turn of one lane: what holds for everything that it signs, as the head of the chain was then. */
export type Round = {
  client: ChainClient
  lane: Lane
  /** The block at which calls are simulated. */
  head: bigint
  fees: { maxWei: bigint; tipWei: bigint }
  /** What posting data on L1 costs. Read here: nothing may ask the chain once rows are locked. */
  l1Price: L1Price
  /** Transactions that the lane has on the chain. */
  usedNonces: bigint
  balanceWei: bigint
}

/**
 * Asks the chain for what a lane must know before it signs.
 *
 * @throws {ServiceError} RPC_ERROR when the node does not answer, or gas costs more than the cap.
 */
export async function readRound(client: ChainClient, lane: Lane): Promise<Round> {
  const { chain } = client
  const [block, count, balance, tipWei, l1Price] = await Promise.all([
    readBlock(client, 'latest'),
    client.send<string>('eth_getTransactionCount', [lane.sender, 'latest']),
    client.send<string>('eth_getBalance', [lane.sender, 'latest']),
    readTip(client),
    readL1Price(client),
  ])
  if (!block) throw new ServiceError('RPC_ERROR', `${chain.name} has no latest block.`)
  const maxWei = 2n * block.baseFeeWei + tipWei
  if (maxWei > chain.maxFeeCapWei) {
    throw new ServiceError('RPC_ERROR', `Gas on ${chain.name} costs more than the cap allows.`)
  }
  return {
    client,
    lane,
    head: block.number,
    fees: { maxWei, tipWei },
    l1Price,
    usedNonces: BigInt(count),
    balanceWei: BigInt(balance),
  }
}
