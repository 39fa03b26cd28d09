import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'
import { connectChain, type ChainClient, type ConnectOptions } from '../../evm/connect.js'
import { createRegistry } from '../../evm/registry.js'
import type { Anvil } from '../../dev/devnet/anvil.js'
import { ServiceError } from '../../domain/errors.js'
import { takeBare } from '../support/nodes.js'
import { startFaultProxy, type FaultProxy } from '../support/faultProxy.js'

export const chain = createRegistry('testnet').get('base-sepolia')

/** An unavailable endpoint is probed soon, ms. */
const probeMs = 100
/** For tests of hanging endpoints, ms. */
export const shortWaits = { timeoutMs: 1_500, patienceMs: 300, probeMs }

export type LoggedLine = { level: string; text: string }

/** Nodes of one chain behind proxies, started per test, and the lines logged by clients. */
export function useEndpoints() {
  const closers: (() => unknown)[] = []
  const lines: LoggedLine[] = []
  beforeEach(() => void lines.splice(0))
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  const say = (level: string) => (facts: object, message: string) =>
    void lines.push({ level, text: `${message} ${JSON.stringify(facts)}` })
  const log = { info: say('info'), warn: say('warn'), error: say('error') }

  const world = {
    lines,

    async startNode(chainId = chain.chainId): Promise<Anvil> {
      const { node, release } = await takeBare(chainId)
      closers.push(release)
      return node
    },

    async startProxy(target: string): Promise<FaultProxy> {
      const proxy = await startFaultProxy(target)
      closers.push(proxy.stop)
      return proxy
    },

    /** Compared once at the start, unless a test changes it. */
    connect(through: FaultProxy[], options: ConnectOptions = {}): ChainClient {
      const urls = through.map(({ url }, i) => `${url}/v3/secret-key-${i + 1}`)
      const client = connectChain(chain, urls, {
        log,
        compareMs: 3_600_000,
        waits: { probeMs },
        ...options,
      })
      closers.push(client.close)
      return client
    },

    /** Two proxies of one node, and a client that prefers the first. */
    async connectTwo(options: ConnectOptions = {}) {
      const node = await world.startNode()
      const [a, b] = [await world.startProxy(node.url), await world.startProxy(node.url)]
      return { node, a, b, client: world.connect([a, b], options) }
    },

    /** Two independent nodes. */
    async connectApart(options: ConnectOptions = {}) {
      const [one, other] = [await world.startNode(), await world.startNode()]
      const [a, b] = [await world.startProxy(one.url), await world.startProxy(other.url)]
      return { one, other, a, b, client: world.connect([a, b], options) }
    },
  }
  return world
}

export const failure = async (asked: Promise<unknown>): Promise<ServiceError> => {
  const error: unknown = await asked.catch((thrown: unknown) => thrown)
  if (error instanceof ServiceError) return error
  throw new Error('It did not fail.')
}

export const price = (client: ChainClient) => client.send('eth_gasPrice', [])

export const asked = ({ asked: counts }: FaultProxy, method = 'eth_gasPrice') => counts[method] ?? 0

export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not happen.')
    await sleep(20)
  }
}
