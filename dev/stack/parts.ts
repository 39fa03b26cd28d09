import * as fs from 'node:fs'
import path from 'node:path'
import { chainNames, pricing, type ChainName } from '../../evm/registry.js'
import { startEmbeddedPostgres } from './embeddedPostgres.js'
import { anvilArguments, anvilBinary } from '../devnet/anvil.js'
import { devnetTerms } from '../devnet/chains.js'
import { keepMining } from '../devnet/mining.js'
import { startFront, type Front } from '../devnet/rollup/front.js'
import { callRpc } from '../devnet/rpc.js'
import { keepStateCopies, prepareState } from '../devnet/state.js'
import { startChild } from './child.js'
import { compileServices } from './compile.js'
import { findFreePorts } from '../ports.js'
import { type Home } from '../state/state.js'
import { type Part, type Running } from './supervise.js'

export const services = ['api', 'worker', 'signer', 'relayer'] as const
export type Service = (typeof services)[number]

/** Maximum processes per role on one machine. */
export const MAX_REPLICAS = 8

/** Name of one process of a role, counted from 0. */
export const replicaName = (service: Service, index: number): string =>
  index === 0 ? service : `${service}-${index + 1}`

const replicaNames = (service: Service) =>
  Array.from({ length: MAX_REPLICAS }, (_, index) => replicaName(service, index))

/** Stop order: callers before the parts that they call, and the databases last. */
export const stopOrder: string[][] = [
  ...services.map(replicaNames),
  ['temporal'],
  [...chainNames],
  ['postgres', 'temporal-postgres'],
]

const entryFiles: Record<Service, string> = {
  api: 'api/main.js',
  worker: 'worker/main.js',
  signer: 'signer/main.js',
  relayer: 'relayer/main.js',
}

/**
 * The deployment image runs Node with the same flags and environment. Resident memory of api, worker, relayer and
 * signer after 60 wallets and 180 lends: 164, 225, 128 and 121 MB. With the default size of the young generation:
 * 192, 315, 146 and 152 MB. With one malloc arena per thread too: 268, 288, 173 and 185 MB.
 */
export const nodeFlags = ['--enable-source-maps', '--max-semi-space-size=4']
export const nodeEnv = { MALLOC_ARENA_MAX: '2' }

/** Time for running work to finish. Unfinished work resumes after the restart. */
const SERVICE_STOP_MS = 8_000
/** A chain writes its whole state when it stops. */
const SERVER_STOP_MS = 8_000

export type PostgresPart = Part & {
  /** Connection of the owner, known once the part is up. */
  url(): string
  folder(): string
}

type PostgresOptions = {
  name: string
  dir: string
  port: number
  /** Prepares it for its clients. `url` is the connection of its owner. */
  prepare?(url: string): Promise<void>
}

/** Keeps its port and data over restarts, so that its address stays valid. */
export function createPostgresPart({ name, dir, port, prepare }: PostgresOptions): PostgresPart {
  let url = ''
  let folder = ''
  return {
    name,
    async start(hooks) {
      const server = await startEmbeddedPostgres({ dir, port, ...hooks })
      ;({ url, folder } = server)
      await prepare?.(url).catch(async (error: unknown) => {
        await server.stop()
        throw error
      })
      return server
    },
    url: () => url,
    folder: () => folder,
  }
}

type ChainOptions = { chainId: number; port: number; stateIntervalSeconds: number | undefined }

export function createChainPart(
  name: ChainName,
  home: Home,
  { chainId, port, stateIntervalSeconds }: ChainOptions,
): Part {
  const { blockSeconds: blockTimeSeconds, baseFeeWei } = devnetTerms[name]
  const { rollup: kind } = pricing[name]
  const cachePath = path.join(home.chains, `${name}.cache`)
  const stateFile = home.chain(name)
  const specOf = (nodePort: number) => ({
    name,
    command: anvilBinary(),
    args: anvilArguments({
      ...{ chainId, port: nodePort, blockTimeSeconds, baseFeeWei, cachePath },
      ...{ stateFile, stateIntervalSeconds },
      // `keepMining` makes the blocks. A node with a short block time of its own keeps gigabytes of states.
      mining: 'tended',
    }),
    logFile: home.log(name),
    ready: async () => Number(await callRpc(urlOf(nodePort), 'eth_chainId')) === chainId,
    stopTimeoutMs: SERVER_STOP_MS,
  })
  // A node that crashed was not stopped. Its miner must stop before the next node starts.
  let endCare: () => Promise<void> = () => Promise.resolve()
  return {
    name,
    async start(hooks) {
      await endCare()
      fs.mkdirSync(cachePath, { recursive: true })
      prepareState(stateFile)
      // The node of a rollup is reached through its front.
      const [nodePort = port] = kind ? await findFreePorts(1) : []
      const target = urlOf(nodePort)
      const node = await startChild(specOf(nodePort), hooks)
      const front = kind && (await openFront(node, { kind, target, port }))
      const endCopies = keepStateCopies(stateFile)
      const endMining = keepMining(target, { blockTimeSeconds, baseFeeWei })
      endCare = async () => {
        endCopies()
        endMining()
        await front?.stop()
      }
      return {
        pid: node.pid,
        async stop() {
          await endCare()
          await node.stop()
          prepareState(stateFile)
        },
      }
    },
  }
}

/** A node that cannot be reached must not stay. */
async function openFront(node: Running, options: Parameters<typeof startFront>[0]): Promise<Front> {
  try {
    return await startFront(options)
  } catch (error) {
    await node.stop()
    throw error
  }
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`

/** One process of a role, named by `replicaName`. */
export function createServicePart(
  { service, name }: { service: Service; name: string },
  env: NodeJS.ProcessEnv,
  home: Home,
): Part {
  return {
    name,
    async start(hooks) {
      const folder = await compileServices()
      const spec = {
        name,
        command: process.execPath,
        args: [...nodeFlags, path.join(folder, entryFiles[service])],
        env: { ...process.env, ...nodeEnv, ...env },
        logFile: home.log(name),
        ready: 'message' as const,
        stopTimeoutMs: SERVICE_STOP_MS,
      }
      return startChild(spec, hooks)
    },
  }
}
