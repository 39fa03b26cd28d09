import { Interface, toQuantity } from 'ethers'
import { connectChain, type ChainClient } from '../../../evm/connect.js'
import { readBalance } from '../../../evm/read.js'
import { type Chain, type ChainName, type Registry } from '../../../evm/registry.js'
import { connectAsLeader, type Db } from '../../../db/client/connect.js'
import { fundOperators } from '../../../dev/devnet/deploy.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { broadcastOpen } from '../../../relayer/broadcast.js'
import { indexSpentKeys } from '../../../relayer/foreignExecutions.js'
import type { PartLog } from '../../../runtime/log.js'
import type { SignerTools } from '../../../signer/signingContext.js'
import { signOnce } from '../../../signer/sign.js'
import { indexChain } from '../../../relayer/indexChain.js'
import { createDriverTools } from '../../../relayer/relayerTools.js'
import { takeDeployed, type DeployedNode } from '../../support/nodes.js'
import { owner } from './fixture.js'
import type { Call } from '../../../domain/intent/operation.js'
import type { TestDatabase } from '../../support/database.js'

const token = new Interface(['function mint(address to, uint256 amount)'])

export type StartedSite = DeployedNode & { name: ChainName }
type SharedParts = {
  database: TestDatabase
  db: Db
  signerDb: Db
  registry: Registry
  keyring: SignerTools['keyring']
  log: PartLog
}
/** One chain with its node, signer and driver. */
export type ChainSite = Awaited<ReturnType<typeof createSite>>

export async function startSite(name: ChainName): Promise<StartedSite> {
  return { name, ...(await takeDeployed(name)) }
}

export async function createSite(shared: SharedParts, { name, node, contracts }: StartedSite) {
  const { database, db, signerDb, registry, keyring, log } = shared
  const chain: Chain = registry.get(name)
  const { chainId } = chain
  const client: ChainClient = connectChain(chain, node.url)
  const senders = await db('sender').where({ chain_id: chainId }).pluck<string[]>('sender')
  await fundOperators(node.url, contracts, { senders })
  await callRpc(node.url, 'evm_setAutomine', [false])
  const leader = connectAsLeader(database.urlAs('steward_relayer'), `chain/${chainId}`)
  const driver = createDriverTools(leader, client, log)
  const signer: SignerTools = {
    ...{ db: signerDb, registry, keyring, operationGasWei: 10n ** 17n, log },
    chains: { list: [client], byId: () => client },
  }
  await indexChain(driver)
  const rpc = <T>(method: string, params: unknown[] = []) => callRpc<T>(node.url, method, params)

  const site = {
    ...{ chain, client, node, contracts, driver, rpc },

    async mine(blocks = 1): Promise<void> {
      await rpc('anvil_mine', [toQuantity(blocks)])
    },
    async index(): Promise<void> {
      while (await indexChain(driver));
    },
    async broadcast(): Promise<void> {
      driver.sentAt.clear()
      await broadcastOpen(driver)
    },
    indexForeign: () => indexSpentKeys(driver),
    sign: () => signOnce(signer, client),

    /** Signs, broadcasts, mines and indexes once. */
    async round(): Promise<void> {
      await site.sign()
      await site.broadcast()
      await site.mine()
      await site.index()
    },

    /** Replaces the last blocks with empty ones. */
    async reorg(depth: number): Promise<void> {
      await rpc('anvil_reorg', [depth, []])
      await site.index()
    },

    /** A call from an account for which anvil signs, not mined yet. */
    send: (from: string, call: Call): Promise<string> =>
      rpc<string>('eth_sendTransaction', [{ from, ...call, gas: toQuantity(3_000_000) }]),

    async give(to: string, units: bigint, contract = chain.usdc.address): Promise<void> {
      const data = token.encodeFunctionData('mint', [to, units])
      await site.send(owner, { to: contract, data })
      await site.mine()
      await site.index()
    },

    held: (contract: string, by: string) => readBalance(client, { token: contract, owner: by }),
    usdcOf: (by: string) => readBalance(client, { token: chain.usdc.address, owner: by }),
    transactions: () =>
      db('chain_tx')
        .where({ chain_id: chainId })
        .orderBy('nonce')
        .select<{ id: bigint; nonce: bigint; state: string }[]>(),

    async stop(): Promise<void> {
      client.close()
      await leader.destroy()
    },
  }
  return site
}
