import { hexlify, randomBytes } from 'ethers'
import { connectChains } from '../../../evm/connect.js'
import { readContractBlock } from '../../../evm/read.js'
import { chainNames, type ChainName } from '../../../evm/registry.js'
import { listenToOperations } from '../../../db/client/listen.js'
import { findBurn } from '../../../operations/burns.js'
import { runAttester } from '../../../relayer/attestations/attester.js'
import { connectAttestations } from '../../../evm/bridges/bridges.js'
import { createWorld, usdcUnits } from '../world/fixture.js'
import { attest, insertCrossing, submitBurn, type Crossing } from './crossing.js'
import { startAttestationService } from './attestationService.js'

export const source = 'arbitrum-sepolia'
export const destination = 'base-sepolia'
/** Short enough for tests, ms. */
const delays = { shortestMs: 100, lookMs: 100, retryMs: 100 }
/** Height of the destination, far above the block number in its contracts. */
const indexedBlock = 100n
const attesterLock = 'leader/attester'

export type StoredBurn = Crossing & { operationId: string }
export type AttestingWorld = Awaited<ReturnType<typeof createAttestingWorld>>

/** The relayer's world with a running attester and a controlled attestation service. */
export async function createAttestingWorld() {
  const world = await createWorld({ senderCount: 1 })
  const { db } = world
  await db('chain').insert({
    ...{ id: world.registry.get(destination).chainId, name: destination, indexed_hash: '0x' },
    ...{ indexed_block: indexedBlock.toString(), finalized_block: 1 },
  })
  const listening = new AbortController()
  const url = world.database.urlAs('steward_relayer')
  const listener = listenToOperations(url, listening.signal)
  // One node stands for all chains.
  const everywhere = Object.fromEntries(chainNames.map((name) => [name, world.node.url]))
  const chains = connectChains(world.registry, everywhere as Record<ChainName, string>)
  let service = await startAttestationService()

  /** Starts the attester of a relayer process; returns a function that ends it. */
  function startAttester(): () => Promise<void> {
    const stopping = new AbortController()
    const attestations = connectAttestations(service.url)
    const { log } = world
    const running = runAttester(
      { url, attestations, chains, listener, log, delays },
      stopping.signal,
    )
    return () => {
      stopping.abort()
      return running
    }
  }
  let stopAttester = startAttester()

  async function openBurn(wallet?: Crossing['wallet']): Promise<StoredBurn> {
    const holder = wallet ?? (await world.createWallet(usdcUnits))
    const crossing = await insertCrossing(world, holder, usdcUnits, source)
    return { ...crossing, ...(await submitBurn(world, crossing)) }
  }

  const hashOf = async ({ operationId }: StoredBurn) =>
    (await world.row(operationId))?.tx_hash ?? ''
  const burnOf = async ({ operationId }: StoredBurn) => findBurn(db, operationId)
  const nonceOf = async (burn: StoredBurn) => (await burnOf(burn))?.eventNonce ?? undefined

  async function readLeader(): Promise<{ pid: number; at: string } | undefined> {
    const { rows } = await db.raw<{ rows: { pid: number; at: string }[] }>(
      `select pid, query_start::text as at from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and datname = current_database()
         and (classid::bigint << 32 | objid::bigint) = hashtextextended(?, 0)`,
      [attesterLock],
    )
    return rows[0]
  }

  return {
    ...{ ...world, listener, startAttester, openBurn, hashOf, burnOf, nonceOf },
    /** Block number in the destination's contracts. */
    seenBlock: () => readContractBlock(chains.byId(world.registry.get(destination).chainId)),
    service: () => service,
    stopAttester: () => stopAttester(),
    startAgain: () => (stopAttester = startAttester()),

    /** Restarts with an empty service. Open burns are not requested. */
    async restart(): Promise<void> {
      await service.stop()
      await stopAttester()
      await db('burn').update({ minted: true })
      service = await startAttestationService()
      stopAttester = startAttester()
    },

    async burned(): Promise<StoredBurn> {
      const burn = await openBurn()
      await world.round()
      return burn
    },

    /** A burn that was mined in a transaction of its own, by its row. */
    async insertBurned(): Promise<StoredBurn> {
      const burn = await openBurn(await world.createPoorWallet())
      const { wallet, units, operationId } = burn
      const mined = { state: 'confirmed', success: true, units: units.toString() }
      const at = { block_number: 1, block_hash: '0x02', log_index: 0, gas_used: 1, gas_cost_usd: 0 }
      const tx_hash = hexlify(randomBytes(32))
      await db('operation')
        .where({ id: operationId })
        .update({ ...mined, ...at, tx_hash })
      const order = { recipient: wallet.address, units, destinationDomain: 6 }
      const { message: sent } = attest(world, order)
      await db('burn').where({ operation_id: operationId }).update({ sent, burned_at: db.fn.now() })
      return burn
    },

    /** Attests a burn in the service; its nonce. */
    async attest(
      burn: StoredBurn,
      options: { nonce?: string; expiresAt?: bigint; attestation?: string } = {},
    ): Promise<string> {
      return service.attest(await hashOf(burn), (await burnOf(burn))?.sent ?? '', options)
    },

    untilAttested: (burn: StoredBurn, nonce: string) =>
      world.waitUntil(async () => (await nonceOf(burn)) === nonce),
    untilRequested: (hash: string, times: number) =>
      world.waitUntil(() => Promise.resolve(service.requestsAbout(hash) >= times)),

    /** Waits until the attester has handled a new burn, without requests that were not due. */
    async untilNextBurnIsAttested(): Promise<void> {
      const probe = await this.insertBurned()
      await this.untilAttested(probe, await this.attest(probe))
    },

    /** Process id of the leader's session. */
    async leader(): Promise<number> {
      await world.waitUntil(async () => (await readLeader()) !== undefined)
      return (await readLeader())?.pid ?? 0
    },

    /** Waits until the leader has read the rows once more. */
    async untilRowsAreRead(): Promise<void> {
      const before = await readLeader()
      await world.waitUntil(async () => (await readLeader())?.at !== before?.at)
    },

    /** Queues the mint of a burn. */
    submitMint({ intentId, wallet }: StoredBurn, chain: string) {
      const { chainId } = world.registry.get(chain)
      const owning = { intentId, sequence: 1, accountId: wallet.accountId, walletId: wallet.id }
      const order = { ...owning, kind: 'mint' as const }
      return world.submit({ ...order, chainId })
    },

    async stop(): Promise<void> {
      listening.abort()
      await service.stop()
      await stopAttester()
      for (const client of chains.list) client.close()
      await world.stop()
    },
  }
}
