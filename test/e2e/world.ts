import { expect } from 'vitest'
import { join } from 'node:path'
import { Interface, JsonRpcProvider, parseUnits, toQuantity } from 'ethers'
import { connect } from '../../db/client/connect.js'
import { createAccount, createApiKey } from '../../db/accounts/accounts.js'
import { readDevnetFile } from '../../evm/devnetFile.js'
import { chainNames, type ChainName, type DevnetContracts } from '../../evm/registry.js'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { Steward, type CreateIntentParams, type Wallet } from '@steward/sdk'
import { getShared } from '../support/fixtures.js'
import { createClient, createHome, removeHome, startStack, until, type Stack } from './stack.js'
import type { Faults } from '../../dev/devnet/iris/attestation.js'

export type ChainNode = { url: string; provider: JsonRpcProvider; contracts: DevnetContracts }
export type { Wallet }
export type ClientResponse = Awaited<ReturnType<ReturnType<typeof createClient>>>

type PartName = keyof Stack['facts']['pids']
type ReceivedFunds = { chain: string; asset: string; amount: string; protocol?: string }
type ResponseStep = {
  type: string
  sequence: number
  chain?: string
  protocol?: string
  amount: string
}
type StepTransaction = {
  type: string
  txHash: string
  chain: ChainName
  gasUsed: string
  gasCostUsd: number
}
/** An intent in the format of the API. */
export type IntentResponse = {
  id: string
  status: string
  retryOf?: string
  executionPlan: {
    strategy: string
    targetChain: string
    targetProtocol?: string
    reasoning: string
    expectedApy?: number
    steps: ResponseStep[]
  }
  results: {
    completedSteps: number
    transactions: StepTransaction[]
    totalGasUsed: string
    totalGasCostUsd: number
    finalAmount?: string
    apy?: number
  }
  error?: {
    code: string
    message: string
    step?: number
    funds?: ReceivedFunds[]
    recovery?: { txHash: string; chain: string; asset: string; amount: string; at: string }
  }
  delay?: { code: string; since: string; message: string; funds: ReceivedFunds[] }
}

const calls = new Interface([
  'function mint(address to, uint256 amount)',
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getPoolConfigurator() view returns (address)',
  'function setReservePause(address asset, bool paused)',
  'function approve(address spender, uint256 amount)',
  'function deposit(uint256 assets, address receiver)',
])

/** A stack, and the actions of tests on its API and its chains. */
export type E2eWorld = ReturnType<typeof openWorld>
/** A stack that tests do not share, which they may stop and disturb. */
export type OwnWorld = Awaited<ReturnType<typeof startAt>> & {
  /** The same stack after a stop and a start. */
  restart(): Promise<OwnWorld>
}

/** The shared stack of the run, with its own account. */
export async function joinWorld(): Promise<E2eWorld> {
  const { home, facts } = await getShared('stack')
  const db = connect(facts.databaseUrl, 1)
  try {
    const { id } = await createAccount(db, { name: 'e2e', plan: 'enterprise' })
    const apiKey = await createApiKey(db, id, { name: 'e2e' })
    return openWorld({ home, facts: { ...facts, apiKey } })
  } finally {
    await db.destroy()
  }
}

/**
 * A stack that is not shared.
 *
 * @param env - Additional environment variables.
 */
export async function startWorld(env: NodeJS.ProcessEnv = {}): Promise<OwnWorld> {
  const home = await createHome()
  const own = async (): Promise<OwnWorld> => {
    const world = await startAt(home, env)
    const stop = async () => {
      await world.stop()
      removeHome(home)
    }
    const restart = async () => {
      await world.stop()
      return own()
    }
    return { ...world, stop, restart }
  }
  return own()
}

async function startAt(home: string, env: NodeJS.ProcessEnv) {
  const stack = await startStack(home, env)
  const world = openWorld(stack)
  const stopped = new Set<number>()
  const isThere = (pid: number) => Object.values(stack.readFacts().pids).includes(pid)
  // Tests poll more often than a client.
  await world.db('account').update({ rpm: 10_000 })
  return {
    ...{ ...world, stack },

    /** Stops or continues one of the stack's processes. */
    signal(part: 'relayer' | 'signer' | 'temporal', signal: 'SIGSTOP' | 'SIGCONT') {
      const pid = stack.readFacts().pids[part]
      process.kill(pid, signal)
      if (signal === 'SIGSTOP') stopped.add(pid)
      else stopped.delete(pid)
    },

    /** Continues a stopped process, unless it was killed in the meantime. */
    resume() {
      for (const pid of stopped) if (isThere(pid)) process.kill(pid, 'SIGCONT')
      stopped.clear()
    },

    /** Kills all processes of the roles, and waits until they are restarted and the API serves. */
    async kill(...parts: PartName[]): Promise<void> {
      const { pids } = stack.readFacts()
      for (const part of parts) process.kill(pids[part], 'SIGKILL')
      await until(
        () => Promise.resolve(stack.readFacts().pids),
        (now) => parts.every((part) => now[part] && now[part] !== pids[part]),
      )
      await until(
        () => fetch(`${stack.facts.hostUrl}/readyz`).catch(() => undefined),
        (answer) => answer?.ok === true,
      )
    },

    /** Injects faults into the attestation service, or clears them. */
    async setFaults(faults: Partial<Faults>): Promise<void> {
      const { attestationUrl } = stack.facts
      const order = { method: 'POST', body: JSON.stringify(faults) }
      expect((await fetch(`${attestationUrl}/dev/faults`, order)).status).toBe(200)
    },

    /** Pauses Aave on a chain, or resumes it and waits until plans use it again. */
    async setAavePaused(chain: ChainName, paused: boolean): Promise<void> {
      const { aavePool, aaveAsset } = world.nodes[chain].contracts
      const provider = await readAddress(world.nodes[chain], aavePool, 'ADDRESSES_PROVIDER')
      const configurator = await readAddress(world.nodes[chain], provider, 'getPoolConfigurator')
      const block = await world.own(chain, configurator, 'setReservePause', [aaveAsset, paused])
      if (!paused) await world.untilIndexed(chain, block)
    },

    async stop() {
      await world.stop()
      await stack.stop()
    },
  }
}

function openWorld(stack: Pick<Stack, 'home' | 'facts'>) {
  const nodes = readNodes(stack)
  const db = connect(stack.facts.databaseUrl, 2)
  const { apiKey, apiBaseUrl: baseUrl } = stack.facts
  const steward = new Steward({ apiKey, baseUrl })
  const call = createClient(stack.facts)
  let given = 0n

  /** Sends a call of the contracts' owner and waits until it is mined. */
  async function own(chain: ChainName, to: string, name: string, args: unknown[]): Promise<bigint> {
    const data = calls.encodeFunctionData(name, args)
    const { url, provider } = nodes[chain]
    const order = { from: devnetOwner, to, data, gas: toQuantity(1_000_000) }
    const hash = await callRpc<string>(url, 'eth_sendTransaction', [order])
    const read = () => provider.getTransactionReceipt(hash)
    const receipt = await until(read, (mined) => mined !== null)
    if (receipt?.status !== 1) throw new Error(`${name} on ${chain} failed.`)
    return BigInt(receipt.blockNumber)
  }

  /** Mints USDC and waits until the service has indexed it. */
  async function give(chain: ChainName, address: string, amount: string): Promise<void> {
    const units = parseUnits(amount, 6)
    const block = await own(chain, nodes[chain].contracts.usdc, 'mint', [address, units])
    given += units
    await untilIndexed(chain, block)
  }

  const untilIndexed = (chain: ChainName, block: bigint) =>
    until(
      () => db('chain').where({ name: chain }).first<{ block: bigint }>('indexed_block as block'),
      (row) => BigInt(row.block) >= block,
    )

  return {
    ...{ stack, db, nodes, steward, call, own, give, untilIndexed },
    /** USDC minted by tests, in base units. */
    given: () => given,

    /** A new wallet with the given USDC per chain, in whole tokens. */
    async createWallet(amounts: Partial<Record<ChainName, string>>): Promise<Wallet> {
      const wallet = await steward.wallets.create({ userId: `u-${Math.random()}` })
      const gifts = Object.entries(amounts) as [ChainName, string][]
      await Promise.all(gifts.map(([chain, amount]) => give(chain, wallet.address, amount)))
      return wallet
    },

    /** Creates an intent and returns the first response. */
    async create(wallet: Wallet, body: object): Promise<IntentResponse> {
      const params = { walletId: wallet.id, ...body } as CreateIntentParams
      return (await steward.intents.create(params)) as IntentResponse
    },

    /** The finished intent. */
    untilFinished: (id: string) => untilIntent(id, ({ status }) => /completed|failed/.test(status)),
    untilIntent,

    async stop() {
      for (const { provider } of Object.values(nodes)) provider.destroy()
      await db.destroy()
    },
  }

  function untilIntent(
    id: string,
    passes: (finished: IntentResponse) => boolean,
  ): Promise<IntentResponse> {
    return until(async () => (await steward.intents.get(id)) as IntentResponse, passes)
  }
}

export const toIntent = ({ body }: ClientResponse) => body as unknown as IntentResponse

function readNodes({ home, facts }: Pick<Stack, 'home' | 'facts'>): Record<ChainName, ChainNode> {
  const contracts = readDevnetFile(join(home, 'devnet.json'))
  const nodes = chainNames.map((name) => {
    const url = facts.rpcUrls[name] ?? ''
    const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 })
    return [name, { url, provider, contracts: contracts[name] }] as const
  })
  return Object.fromEntries(nodes) as Record<ChainName, ChainNode>
}

async function readAddress({ provider }: ChainNode, to: string, name: string): Promise<string> {
  const answer = await provider.call({ to, data: calls.encodeFunctionData(name) })
  return calls.decodeFunctionResult(name, answer)[0] as string
}
