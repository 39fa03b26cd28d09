import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Server } from 'node:net'
import { Explained } from './terminal.js'

/** A port that a user may want elsewhere: what listens there, its default, the variable that moves it. */
export type PortChoice = { name: string; variable: string; port: number }

/**
 * Checks every chosen port on 127.0.0.1 before anything starts, and replaces 0 by a free one.
 *
 * @param choices - By key; the result has the same keys.
 * @throws {Explained} one line for each port that another program holds.
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
  if (complaints.length > 0) throw new Explained(complaints.join('\n'))

  const free = await findFreePorts(entries.filter(([, { port }]) => port === 0).length)
  const chosen = entries.map(([key, { port }]) => [key, port || free.pop()] as const)
  return Object.fromEntries(chosen) as Record<Key, number>
}

/** Reads a port from the environment; 0 is allowed. */
export function readPort(
  env: NodeJS.ProcessEnv,
  name: string,
  variable: string,
  standard: number,
): PortChoice {
  const text = env[variable]
  const port = text ? Number(text) : standard
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Explained(`${variable}=${text} is not a port. Use 1 to 65535, or 0 for a free one.`)
  }
  return { name, variable, port }
}

/**
 * Free ports of 127.0.0.1, all different: each is held until all are found. For a minute after it nobody is
 * given them who asks for any free port, while whoever asks for one of them by its number has it.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(reserve))
  await Promise.all(servers.map(close))
  return ports
}

/** Where the system begins to choose: below it nobody is given a port who asks for any. */
const CHOSEN_FROM = 32_768
const LOW_FROM = 20_000

/** Free ports of 127.0.0.1 below 32,768, all different, for programs that keep a port in 15 bits. */
export async function findLowPorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(LOW_FROM, CHOSEN_FROM)
    if (!(await isTaken(port))) found.add(port)
  }
  return [...found]
}

/**
 * Leaves a connection behind whose end the system waits for: a port with one is passed over when a free one is
 * chosen, and may be bound all the same. The side that ends the connection is the one that waits.
 * @see man 7 ip, SO_REUSEADDR, which servers set; on other systems than Linux free ports do not repeat soon.
 */
async function reserve(server: Server): Promise<void> {
  server.once('connection', (socket) => socket.end())
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket.resume(), 'close')
}

/** A program that listens on all addresses may leave 127.0.0.1 free to bind, so a connection is tried too. */
async function isTaken(port: number): Promise<boolean> {
  if (port === 0) return false
  try {
    await close(await listen(port))
  } catch {
    return true
  }
  return isListening('127.0.0.1', port)
}

/** Enough for a server on the other side of the world. */
const CONNECT_TIMEOUT_MS = 3_000

/** Tells whether a program accepts connections there. */
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

/** Tells in one line what the clients of these servers would tell in many, and late. */
export async function assertListening(
  variable: string,
  url: string,
  standardPort: number,
): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const address = hostname.replace(/^\[|\]$/g, '')
  if (await isListening(address, Number(port) || standardPort)) return
  throw new Explained(`${variable} (${host}) does not answer. Start it, or unset ${variable}.`)
}
