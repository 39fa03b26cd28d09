import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keepMining } from './mining.js'
import { callRpc } from './rpc.js'
import { keepStateCopies, prepareState } from './state.js'

/** The public test mnemonic of all development nodes. For local chains only. Never fund these keys elsewhere. */
export const DEVNET_MNEMONIC = 'test test test test test test test test test test test junk'

/**
 * Finality depth in seconds. Longer than any reorg in the tests and than `STATE_INTERVAL_SECONDS`, so that a killed
 * node never undoes a final block.
 */
const FINALITY_SECONDS = 15

/**
 * Default interval of state dumps in seconds. A fresh chain has a dump of 3.4 MB, which costs 0.2 % of a core at 5 s
 * and 1 % at 1 s. The dump grows with each block, to 25 MB within an hour at 0.25 s. A node does not answer during a
 * dump: 0.12 to 0.28 s at 58 to 83 MB.
 */
const STATE_INTERVAL_SECONDS = 5

/**
 * Block time of a tended node, which never elapses because the caller mines. With a block time a node does not mine
 * per transaction. With a long one it respects the limit of kept states.
 */
const TENDED_BLOCK_SECONDS = 365 * 86_400

const START_TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 10_000

type AnvilOptions = {
  chainId: number
  port: number
  /** Absent: one block per transaction. */
  blockTimeSeconds?: number | undefined
  /**
   * `node`: the node mines at its block time. `tended`: the caller mines by `keepMining`. A node with a block time of
   * at most 2 s ignores the limit and keeps 1,500 states, each with the hashes of all blocks: 2 GB after an hour at
   * 0.25 s. A tended node keeps 64 states, about 80 MB after an hour.
   */
  mining?: 'node' | 'tended' | undefined
  /**
   * Base fee of the first block, and of the blocks that the caller mines. Absent: 1 gwei, then as the node computes
   * it.
   */
  baseFeeWei?: bigint | undefined
  /** Kept across restarts when given. */
  stateFile?: string | undefined
  /** Interval of state dumps. Above `FINALITY_SECONDS` a killed node undoes final blocks. */
  stateIntervalSeconds?: number | undefined
  host?: string | undefined
  /** Accepts requests of any size, such as the state of another node. Absent: at most 2 MB, the default of nodes. */
  takesAnySize?: boolean | undefined
}

export type StartOptions = Omit<AnvilOptions, 'port'> & { port?: number | undefined }
export type Anvil = { url: string; pid: number; stop(): Promise<void> }

/**
 * Path of anvil: from the npm package of this platform, else from PATH. npm also puts a script `anvil` on PATH, which
 * starts the program as its child. A signal to that script does not reach the program.
 *
 * @throws Error when both are missing.
 */
export function anvilBinary(): string {
  const file = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return path.join(path.dirname(manifest), 'bin', file)
  } catch (cause) {
    const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)
    const installed = folders.map((folder) => path.join(folder, file)).find(isExecutable)
    if (installed) return installed
    const hint = `Install Foundry (https://getfoundry.sh) or run: npm install --no-save ${name}`
    throw new Error(`anvil is missing. ${hint}`, { cause })
  }
}

/**
 * Arguments of one node.
 *
 * Without `--prune-history` anvil writes its full state to disk at every block, gigabytes within minutes. With the
 * flag but without a number it keeps no earlier state and cannot reorganise. The finalized block is two epochs behind
 * the head, and its state must be among the 64 kept states.
 */
export function anvilArguments(options: AnvilOptions & { cachePath: string }): string[] {
  const { chainId, port, blockTimeSeconds, mining, baseFeeWei, stateFile, cachePath } = options
  const { stateIntervalSeconds = STATE_INTERVAL_SECONDS } = options
  const host = options.host ?? '127.0.0.1'
  const slots = Math.ceil(FINALITY_SECONDS / 2 / (blockTimeSeconds ?? 1))
  const ownBlockSeconds = mining === 'tended' ? TENDED_BLOCK_SECONDS : blockTimeSeconds
  const state = ['--state', stateFile ?? '', '--state-interval', String(stateIntervalSeconds)]
  return [
    ...['--host', host, '--port', String(port), '--chain-id', String(chainId)],
    ...['--silent', '--mnemonic', DEVNET_MNEMONIC],
    // The whole deployment fits into a few blocks of this size.
    ...['--gas-limit', '300000000'],
    ...['--prune-history', '64', '--cache-path', cachePath],
    ...['--slots-in-an-epoch', String(slots)],
    // Only this option accepts a block time below one second: evm_setIntervalMining takes whole seconds.
    ...(ownBlockSeconds ? ['--block-time', String(ownBlockSeconds)] : []),
    ...(baseFeeWei === undefined ? [] : ['--block-base-fee-per-gas', String(baseFeeWei)]),
    ...(stateFile ? state : []),
    ...(options.takesAnySize ? ['--no-request-size-limit'] : []),
  ]
}

/**
 * Starts a node and waits for its first response. The node ends with this process at the latest.
 *
 * @param options - `port`: a free one when absent.
 * @returns `stop` ends the node, which then writes its state file. Idempotent.
 * @throws Error when the port is taken, or with the node's last output when it does not start.
 */
export async function startAnvil(options: StartOptions): Promise<Anvil> {
  const { stateFile, chainId, host = '127.0.0.1' } = options
  const port = await findFreePort(options.port ?? 0, host)
  if (stateFile) prepareState(stateFile)
  const binary = anvilBinary()
  const cachePath = mkdtempSync(path.join(os.tmpdir(), 'steward-anvil-'))
  const argv = anvilArguments({ ...options, port, cachePath })
  const child = spawn(binary, argv, { stdio: ['ignore', 'ignore', 'pipe'] })
  const url = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  const stopTending = tend(url, options)
  const cleanUp = () => {
    stopTending.forEach((stopOne) => stopOne())
    child.kill('SIGKILL')
    rmSync(cachePath, { recursive: true, force: true })
  }
  process.once('exit', cleanUp)
  const stop = async () => {
    await endGently(child)
    process.removeListener('exit', cleanUp)
    cleanUp()
  }
  try {
    await waitForAnswer(child, url, chainId)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, pid: child.pid ?? 0, stop }
}

/** Resources that a node needs while it runs. Returns the functions that release them. */
function tend(url: string, options: StartOptions): (() => void)[] {
  const { stateFile, mining, blockTimeSeconds, baseFeeWei } = options
  const isTended = mining === 'tended' && blockTimeSeconds
  return [
    ...(stateFile ? [keepStateCopies(stateFile)] : []),
    ...(isTended ? [keepMining(url, { blockTimeSeconds, baseFeeWei })] : []),
  ]
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The given port, or any free one for 0. Throws when it is taken, so that another node is not mistaken for this one.
 */
async function findFreePort(wanted: number, host: string): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: Error) =>
      reject(new Error(`Port ${wanted} is taken on ${host}. Choose another.`, { cause }))
    server.once('error', refuse).listen(wanted, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function waitForAnswer(child: ChildProcess, url: string, chainId: number): Promise<void> {
  let lastWords = ''
  // Always read, because a full pipe blocks the node.
  child.stderr?.on(
    'data',
    (chunk: Buffer) => (lastWords = (lastWords + String(chunk)).slice(-2_000)),
  )
  child.on('error', (error) => (lastWords = error.message))
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!hasEnded(child) && performance.now() < deadline) {
    const answer = await callRpc<string>(url, 'eth_chainId').catch(() => undefined)
    if (Number(answer) === chainId) return
    await sleep(10)
  }
  throw new Error(`anvil did not start at ${url}. ${lastWords.trim()}`)
}

function hasEnded(child: ChildProcess): boolean {
  return !child.pid || child.exitCode !== null || child.signalCode !== null
}

async function endGently(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(killer)
}
