import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { Interface } from 'ethers'
import {
  connectChain,
  type ChainClient,
  type Chains,
  type ConnectOptions,
} from '../../../evm/connect.js'
import { chainNames, createRegistry, type Chain, type ChainName } from '../../../evm/registry.js'
import { createSealedAccount } from '../../../custody/account.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { connect, connectAsLeader } from '../../../db/client/connect.js'
import { insertFunding } from '../../../db/intents/fundings.js'
import { insertIntent } from '../../../db/intents/intents.js'
import { insertReservation } from '../../../db/intents/reservations.js'
import { insertWallet, newWalletId, type StoredWallet } from '../../../db/accounts/wallets.js'
import { type Anvil } from '../../../dev/devnet/anvil.js'
import { devnetOwner, fundOperators } from '../../../dev/devnet/deploy.js'
import { devnetTerms, type Terms } from '../../../dev/devnet/chains.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import type { DepositStep, StepPlan } from '../../../domain/intent/intent.js'
import type { Tier } from '../../../domain/tiers.js'
import { demoFunding } from '../../../domain/intent/funding.js'
import { broadcastOpen } from '../../../relayer/broadcast.js'
import { createStopFile } from '../../../signer/check/stopFile.js'
import { ensureSenders, ensureTreasury, loadKek } from '../../../signer/senders/keys.js'
import { submitOperation, type OperationOrder } from '../../../operations/submit.js'
import type { SignerTools } from '../../../signer/signingContext.js'
import { signOnce } from '../../../signer/sign.js'
import { indexChain } from '../../../relayer/indexChain.js'
import { createDriverTools, type DriverTools } from '../../../relayer/relayerTools.js'
import { createDatabase } from '../../support/database.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { timed } from '../../support/run/seconds.js'
import { startPlainNode, startRollupNode } from './node.js'
import type { ReservationColumns, OperationColumns, Send, Tx } from './rows.js'

/** First account of the devnet: it owns the contracts, and anvil signs for it. */
export const owner = devnetOwner
export const usdcUnits = 1_000_000n
/** Depth of `finalized` below the head on a node with one-second slots. */
export const finalityBlocks = 16

const token = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
])

export type WorldLog = { level: 'info' | 'warn' | 'error'; message: string; facts: object }
export type Submitted = { intentId: string; operationId: string; order: OperationOrder }
export type Lend = Submitted & { wallet: StoredWallet; order: OperationOrder }

/** One chain with its database, its keys, and a client per database role. */
export type World = Awaited<ReturnType<typeof createWorld>>

/**
 * @param options - `blockTimeSeconds`: absent, blocks are only mined by `mine()`. `senderCount`: senders per chain.
 *   `terms`: the chain's markets. `asRollup`: a proxy charges for data on L1, at a usual base fee. `changes`: other
 *   values in the chain's registry entry. `waits`: timeouts of its endpoints, ms.
 */
export async function createWorld(
  options: {
    senderCount?: number
    blockTimeSeconds?: number
    confirmations?: number
    name?: ChainName
    terms?: Terms
    asRollup?: boolean
    changes?: Partial<Chain>
    waits?: ConnectOptions['waits']
  } = {},
) {
  const {
    name = 'arbitrum-sepolia',
    senderCount = 2,
    blockTimeSeconds,
    confirmations = 1,
  } = options
  const { terms = devnetTerms[name], asRollup, changes, waits = {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'steward-relayer-'))
  const chainId = createRegistry('testnet').get(name).chainId
  const started = await timed('chain', () =>
    asRollup ? startRollupNode(name, terms) : startPlainNode(name, terms, blockTimeSeconds),
  )
  const { node, contracts } = started
  const file = join(folder, 'devnet.json')
  writeFileSync(file, JSON.stringify(Object.fromEntries(chainNames.map((n) => [n, contracts]))))
  const registry = createRegistry('devnet', file)
  const chain: Chain = { ...registry.get(name), confirmations, ...changes }
  const proxy = await startFaultProxy(started.serviceUrl)
  const database = await createDatabase()
  const signerDb = connect(database.urlAs('steward_signer'))
  const workerDb = connect(database.urlAs('steward_worker'))

  const kek = await loadKek(signerDb, join(folder, 'kek'))
  await ensureSenders(signerDb, kek, { chainIds: [chainId], perChain: senderCount })
  const treasury = await ensureTreasury(signerDb, kek)
  const senders = await database.db('sender').orderBy('sender').pluck<string[]>('sender')
  await fundOperators(node.url, contracts, { senders, treasury: treasury.address })
  if (!blockTimeSeconds) await callRpc(node.url, 'evm_setAutomine', [false])
  const account = await createAccount(database.db, { name: 'test', plan: 'pro' })

  const logs: WorldLog[] = []
  const record = (level: WorldLog['level']) => (facts: object, message: string) => {
    logs.push({ level, message, facts })
  }
  const log = { info: record('info'), warn: record('warn'), error: record('error') }
  const closers: (() => Promise<unknown>)[] = []

  const rpc = <T>(method: string, params: unknown[] = []) => callRpc<T>(node.url, method, params)

  function createClient(changes: Partial<Chain> = {}): ChainClient {
    const client = connectChain({ ...chain, ...changes }, proxy.url, { waits })
    closers.push(() => Promise.resolve(client.close()))
    return client
  }

  /** A signer process with its own connections and name. */
  function createSigner(leaseOwner: string): SignerTools {
    const client = createClient()
    const chains: Chains = { list: [client], byId: () => client }
    const stopFile = createStopFile(join(folder, 'stop-signing'), log)
    const keyring = { kek, treasury, leaseOwner, stopFile }
    return { db: signerDb, chains, registry, keyring, operationGasWei: 10n ** 17n, log }
  }

  /** A driver process. Its session leads the chain from its first query on. */
  function createDriver(): DriverTools {
    const db = connectAsLeader(database.urlAs('steward_relayer'), `chain/${chainId}`)
    closers.push(() => db.destroy())
    return createDriverTools(db, createClient(), log)
  }

  const signer = createSigner('signer')
  let driver = createDriver()
  await indexChain(driver)

  async function mine(blocks = 1): Promise<void> {
    await started.mine(blocks)
  }

  async function mint({ address }: { address: string }, units: bigint): Promise<void> {
    const data = token.encodeFunctionData('mint', [address, units])
    await rpc('eth_sendTransaction', [{ from: owner, to: chain.usdc.address, data }])
  }

  async function index(tools = driver): Promise<void> {
    while (await indexChain(tools));
  }

  async function broadcast(tools = driver): Promise<void> {
    await broadcastOpen(tools)
  }

  async function sign(tools = signer): Promise<boolean> {
    return signOnce(tools, tools.chains.byId(chainId))
  }

  return {
    ...{ node, proxy, chain, contracts, database, db: database.db, workerDb, signerDb, folder },
    ...{ kek, treasury, senders, account, logs, log, signer, registry },
    ...{ rpc, createSigner, createDriver, createClient, mine, mint, index, broadcast, sign },

    driver: () => driver,

    /** Ends the driver's session and starts another one. */
    async restartDriver(): Promise<void> {
      await driver.db.destroy()
      driver = createDriver()
    },

    /** The same driver with a fresh client. */
    freshDriver: (): DriverTools => {
      const following = { endpoint: undefined, hasFailed: false }
      return { ...driver, client: createClient(), following }
    },

    /** Signs, broadcasts, mines and indexes once. */
    async round(): Promise<void> {
      await sign()
      await broadcast()
      await mine()
      await index()
    },

    async createWallet(units: bigint, accountId = account.id): Promise<StoredWallet> {
      const [wallet] = await this.createWallets(1, units, accountId)
      return wallet as StoredWallet
    },

    /** Wallets with USDC and without ETH. */
    async createWallets(count: number, units: bigint, accountId = account.id) {
      const wallets: StoredWallet[] = []
      for (let i = 0; i < count; i++) wallets.push(await insertSealedWallet(accountId))
      for (const { address } of wallets) {
        if (units > 0n) await mint({ address }, units)
      }
      if (blockTimeSeconds) {
        await this.waitUntil(() => this.isRich(wallets, units))
      } else {
        await mine()
        await index()
      }
      return wallets
    },

    /** A wallet without funds. */
    createPoorWallet: () => insertSealedWallet(account.id),

    /** A wallet with USDC, in blocks that the driver has not indexed. */
    async createWalletUnindexed(units: bigint): Promise<StoredWallet> {
      const wallet = await insertSealedWallet(account.id)
      await mint(wallet, units)
      await mine()
      return wallet
    },

    createAccount: (plan: Tier) => createAccount(database.db, { name: plan, plan }),

    async isRich(wallets: StoredWallet[], units: bigint): Promise<boolean> {
      const balances = await Promise.all(wallets.map(({ address }) => this.usdcOf(address)))
      return balances.every((balance) => balance >= units)
    },

    /** An intent with its plan and reservation, and its queued deposit. */
    async lend(wallet: StoredWallet, units: bigint): Promise<Lend> {
      const intentId = await this.insertLend(wallet, units)
      const order = depositOf(intentId, wallet, chainId)
      return { ...(await this.submit(order)), wallet }
    },

    async insertLend(wallet: StoredWallet, units: bigint): Promise<string> {
      const request = {
        action: 'lend',
        asset: 'USDC',
        amountUnits: units,
        chain: chain.name,
      } as const
      const plan = planOf(chain, units)
      const holder = { accountId: wallet.accountId, walletId: wallet.id, requestId: 'req' }
      const intent = await insertIntent(database.db, holder, { request, units, plan })
      const at = { walletId: wallet.id, chainId, token: chain.usdc.address, units }
      await insertReservation(database.db, { intentId: intent.id, sequence: 1, ...at })
      return intent.id
    },

    async fund(wallet: StoredWallet): Promise<Lend> {
      const { units } = demoFunding
      const walletId = wallet.id
      const funding = { accountId: wallet.accountId, walletId, chainId, units }
      const { id } = await insertFunding(database.db, funding)
      const order = { ...depositOf(id, wallet, chainId), kind: 'fund' as const }
      return { ...(await this.submit(order)), wallet }
    },

    /** Submits like an activity on each attempt. */
    async submit<E extends OperationOrder>(
      order: E,
      open?: Parameters<typeof submitOperation>[2],
    ): Promise<{ intentId: string; operationId: string; order: E }> {
      const row = await submitOperation(workerDb, order, open)
      if (!row) throw new Error('The intent has ended.')
      return { intentId: order.intentId, operationId: row.id, order }
    },

    /** Clears the retry times of deferred operations. */
    async retryNow({ order, operationId }: Submitted): Promise<void> {
      await this.db('operation')
        .where({ id: operationId, state: 'deferred' })
        .update({ retry_after: this.db.raw('clock_timestamp()') })
      await submitOperation(workerDb, order)
    },

    /** An operation with its stored signature. */
    row: (id: string) =>
      database
        .db('operation')
        .leftJoin('signature', 'operation_id', 'id')
        .where({ id })
        .first<OperationColumns>(),
    reservation: (intentId: string, sequence = 1) =>
      database
        .db('reservation')
        .where({ intent_id: intentId, sequence })
        .first<ReservationColumns>(),
    transactions: () => database.db('chain_tx').orderBy(['sender', 'nonce']).select<Tx[]>(),
    sends: () =>
      database
        .db('chain_tx_send')
        .orderBy(['tx_id', 'n'])
        .select<Send[]>('tx_id', 'n', 'hash', 'raw'),

    usdcOf: (address: string) => balanceOf(node, chain.usdc.address, address),
    deposited: (address: string) => balanceOf(node, contracts.aToken, address),
    async ethOf(address: string): Promise<bigint> {
      return BigInt(await rpc<string>('eth_getBalance', [address, 'latest']))
    },

    async waitUntil(holds: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
      const deadline = Date.now() + limitMs
      while (!(await holds())) {
        if (Date.now() > deadline) throw new Error('It did not happen in time.')
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
    },

    async stop(): Promise<void> {
      for (const close of closers) await close().catch(() => undefined)
      await Promise.all([signerDb.destroy(), workerDb.destroy(), proxy.stop()])
      await database.drop()
      await started.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }

  async function insertSealedWallet(accountId: string): Promise<StoredWallet> {
    const id = newWalletId()
    const owning = { purpose: 'wallet', owner: id, accountId } as const
    const { address, sealed } = createSealedAccount(kek, () => owning)
    const row = { id, accountId, userId: id, address, metadata: {} }
    const wallet = await insertWallet(database.db, row, { kekId: kek.id, sealed })
    if (!wallet) throw new Error('The wallet was not stored.')
    return wallet
  }
}

function depositOf(intentId: string, wallet: StoredWallet, chainId: number): OperationOrder {
  const { id: walletId, accountId } = wallet
  return { intentId, sequence: 1, kind: 'deposit', accountId, walletId, chainId }
}

function planOf(chain: Chain, units: bigint): StepPlan {
  const step: DepositStep = {
    ...{ type: 'deposit', sequence: 1, chain: chain.name, protocol: 'aave-v3', asset: 'USDC' },
    market: chain.markets[0]?.address ?? '',
    amount: (Number(units) / 1e6).toString(),
  }
  return {
    strategy: 'direct-deposit',
    targetChain: chain.name,
    targetProtocol: 'aave-v3',
    expectedApy: 3,
    steps: [step],
    estimatedGasUsd: 0,
    estimatedTime: '1-5 seconds',
    reasoning: 'test',
  }
}

async function balanceOf(node: Anvil, contract: string, holder: string): Promise<bigint> {
  const data = token.encodeFunctionData('balanceOf', [holder])
  return BigInt(await callRpc<string>(node.url, 'eth_call', [{ to: contract, data }, 'latest']))
}
