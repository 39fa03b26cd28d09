import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Server } from 'node:net'
import { UserError } from './terminal.js'

/** A port that the user can move: its part, its default and its environment variable. */
export type PortChoice = { name: string; variable: string; port: number }

/**
 * Checks that all chosen ports on 127.0.0.1 are free before a part starts. Replaces 0 with a free port.
 *
 * @param choices - By key. The result has the same keys.
 * @throws {UserError} with one line per occupied port.
 */
export async function choosePorts<Key extends string>(
  choices: Record<Key, PortChoice>,
): Promise<Record<Key, number>> {
  const entries = Object.entries<PortChoice>(choices)
  const taken = await Promise.all(entries.map(([, { port }]) => isTaken(port)))
  const complaints = entries
    .filter((_, index) => taken[index])
    .map(
      ([, { name, variable, port }]) =>
        `Port ${port} (${name}) is taken. Set ${variable} to another port, or to 0 for a free one.`,
    )
  if (complaints.length > 0) throw new UserError(complaints.join('\n'))

  const free = await findFreePorts(entries.filter(([, { port }]) => port === 0).length)
  const chosen = entries.map(([key, { port }]) => [key, port || free.pop()] as const)
  return Object.fromEntries(chosen) as Record<Key, number>
}

/** Reads a port from the environment. Allows 0. */
export function readPort(
  env: NodeJS.ProcessEnv,
  name: string,
  variable: string,
  standard: number,
): PortChoice {
  const text = env[variable]
  const port = text ? Number(text) : standard
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UserError(`${variable}=${text} is not a port. Use 1 to 65535, or 0 for a free one.`)
  }
  return { name, variable, port }
}

/**
 * Distinct free ports on 127.0.0.1. All are held until the last one is found. For a minute afterwards the system
 * assigns them to no other program that requests a random port. Binding one by number works.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(reserve))
  await Promise.all(servers.map(close))
  return ports
}

/** Lower end of the system's range for random ports. The system never assigns a port below it. */
const CHOSEN_FROM = 32_768
const LOW_FROM = 20_000

/** Distinct free ports on 127.0.0.1 below 32,768, for programs that store a port in 15 bits. */
export async function findLowPorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(LOW_FROM, CHOSEN_FROM)
    if (!(await isTaken(port))) found.add(port)
  }
  return [...found]
}

/**
 * Leaves a connection in TIME_WAIT. The system skips such a port when it chooses a random one, but a server can still
 * bind it. The side that closes first keeps the state. Servers set SO_REUSEADDR, see man 7 ip. Only Linux repeats
 * free ports soon.
 */
async function reserve(server: Server): Promise<void> {
  server.once('connection', (socket) => socket.end())
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket.resume(), 'close')
}

/** A program that listens on all addresses may leave 127.0.0.1 free to bind. Hence a connection is tried too. */
async function isTaken(port: number): Promise<boolean> {
  if (port === 0) return false
  try {
    await close(await listen(port))
  } catch {
    return true
  }
  return isListening('127.0.0.1', port)
}

/** Enough for a server on another continent. */
const CONNECT_TIMEOUT_MS = 3_000

/** Whether a program accepts connections at the address. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: CONNECT_TIMEOUT_MS })
    const answer = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => answer(true))
    socket.once('timeout', () => answer(false))
    socket.once('error', () => answer(false))
  })
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

const close = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()))

/** Reports an unreachable server in one line, before its clients report it in many. */
export async function assertListening(
  variable: string,
  url: string,
  standardPort: number,
): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const address = hostname.replace(/^\[|\]$/g, '')
  if (await isListening(address, Number(port) || standardPort)) return
  throw new UserError(`${variable} (${host}) does not answer. Start it, or unset ${variable}.`)
}
