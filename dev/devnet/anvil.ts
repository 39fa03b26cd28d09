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

/** The public test mnemonic of all development nodes. Local chains only, never fund these keys anywhere. */
export const DEVNET_MNEMONIC = 'test test test test test test test test test test test junk'

/**
 * How far behind the head a block is final, seconds. Longer than any reorg that a test makes and than
 * `STATE_INTERVAL_SECONDS`, so that a killed node never takes back a final block.
 */
const FINALITY_SECONDS = 15

/**
 * How often a node writes its state file by default, seconds. A chain just deployed has 3.4 MB and costs 0.2 % of
 * a core at 5 s, 1 % at 1 s, without visible gaps between blocks; but the file grows with each block,
 * to 25 MB within an hour at 0.25 s, so that 1 s would keep a disk busy for nothing. While it writes,
 * a node answers nobody: for 0.12 to 0.28 s at 58 to 83 MB.
 */
const STATE_INTERVAL_SECONDS = 5

/**
 * The own block time of a tended node, which never comes: its blocks are the caller's. With one it waits for blocks
 * instead of mining for each transaction, and with a long one it keeps as few states as it is told.
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
   * Who keeps the block time: the node, or the caller by `keepMining`. A node with a block time of at
   * most 2 s keeps 1,500 states whatever it is told, each with the hashes of all blocks: at 0.25 s
   * that is 2 GB after an hour. A tended one keeps 64, some 80 MB after an hour.
   */
  mining?: 'node' | 'tended' | undefined
  /** Base fee of the first block, and of all that the caller keeps coming. Absent: 1 gwei, then as the node reckons. */
  baseFeeWei?: bigint | undefined
  /** Kept across restarts when given. */
  stateFile?: string | undefined
  /** How often it is written. Above `FINALITY_SECONDS` a killed node takes back final blocks. */
  stateIntervalSeconds?: number | undefined
  host?: string | undefined
  /** Takes requests of any size, such as the state of another node; absent: of 2 MB at most, as nodes do. */
  takesAnySize?: boolean | undefined
}

export type StartOptions = Omit<AnvilOptions, 'port'> & { port?: number | undefined }
export type Anvil = { url: string; pid: number; stop(): Promise<void> }

/**
 * Path of anvil: the npm package's for this platform, else the one on PATH. npm puts a script named `anvil` on PATH
 * which starts the program as its child; a signal to that script does not reach the program.
 *
 * @throws Error when there is neither.
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
 * Without `--prune-history` anvil writes its full state to disk at every block, gigabytes within
 * minutes; with it but without a number it keeps no state to return to and cannot reorganise.
 * The finalized block is two epochs behind the head, and its state must still be among the 64 kept.
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
    // The whole deployment fits into few blocks of this size.
    ...['--gas-limit', '300000000'],
    ...['--prune-history', '64', '--cache-path', cachePath],
    ...['--slots-in-an-epoch', String(slots)],
    // Only here can a block time be below one second: evm_setIntervalMining takes whole seconds.
    ...(ownBlockSeconds ? ['--block-time', String(ownBlockSeconds)] : []),
    ...(baseFeeWei === undefined ? [] : ['--block-base-fee-per-gas', String(baseFeeWei)]),
    ...(stateFile ? state : []),
    ...(options.takesAnySize ? ['--no-request-size-limit'] : []),
  ]
}

/**
 * Starts a node and waits for its first answer. The node ends with this process at the latest.
 *
 * @param options - `port`: a free one when absent.
 * @returns `stop` ends the node, upon which it writes its state file. It may be called twice.
 * @throws Error when the port is taken, or with the node's last words when it does not start.
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

/** What a node needs while it runs; the functions that end it. */
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

/** The given port, or any for 0. Throws when it is taken, lest another node's answer passes for ours. */
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
  // Read to the end even when nobody wants it: a full pipe blocks the node.
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
